package org.testcontainers.utility;

/** The name of an image. */
public record DockerImageName(String name) {
    public static DockerImageName parse(String name) {
        return new DockerImageName(name);
    }
}
