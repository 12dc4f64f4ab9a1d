package org.testcontainers.containers.wait.strategy;

/** How a container is waited for. */
public interface WaitStrategy {
}
