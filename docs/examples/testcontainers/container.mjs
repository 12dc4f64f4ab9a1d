// The sandbox in a container, for tests of node with Testcontainers: npm install --save-dev
// testcontainers mock-platform. The image is that of the Dockerfile of the repository.

import { randomUUID } from "node:crypto";

import { MockPlatform } from "mock-platform";
import { GenericContainer, Wait } from "testcontainers";

const PORT = 8080;

// Returns the sandbox; its stop() also removes the container.
export async function startContainer(image = "mock-platform") {
  const token = randomUUID(); // other machines may reach the port; only this process may control it
  const container = await new GenericContainer(image)
    .withEnvironment({ MOCK_PLATFORM_SERVE_CONTROL_TOKEN: token })
    .withExposedPorts(PORT)
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  const url = `http://${container.getHost()}:${container.getMappedPort(PORT)}`;
  const platform = await MockPlatform.connect(url, { token });
  const disconnect = platform.stop.bind(platform);
  platform.stop = async () => {
    await disconnect();
    await container.stop();
  };
  return platform;
}
