package org.testcontainers.containers.wait.strategy;

/** Ways to wait for a container. */
public final class Wait {
    public static WaitStrategy forHealthcheck() {
        return new WaitStrategy() { };
    }
}
