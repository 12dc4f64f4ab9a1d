// Stands in for testcontainers: a container is a server in a process, with the image's settings.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const SETTINGS = { MOCK_PLATFORM_SERVE_HOST: "0.0.0.0", MOCK_PLATFORM_SERVE_PORT: "0" };

export const Wait = { forHealthCheck: () => "the health check of the image" };

export class GenericContainer {
  constructor(image) {
    this.image = image;
  }

  withEnvironment(environment) {
    this.environment = environment;
    return this;
  }

  withExposedPorts(...ports) {
    this.ports = ports;
    return this;
  }

  withWaitStrategy(strategy) {
    this.strategy = strategy;
    return this;
  }

  async start() {
    assert.deepEqual([this.image, this.strategy], ["mock-platform", Wait.forHealthCheck()]);
    const [program, ...words] = process.env.MOCK_PLATFORM_COMMAND.split(" ");
    const env = { ...process.env, ...SETTINGS, ...this.environment };
    const serve = [...words, "serve", "--stop-with-stdin"];
    const server = spawn(program, serve, { env, stdio: ["pipe", "pipe", "ignore"] });
    const [line] = await once(createInterface({ input: server.stdout }), "line");
    const { port } = new URL(JSON.parse(line.slice("READY ".length)).url);
    return {
      getHost: () => "localhost",
      getMappedPort: (inside) => (this.ports.includes(inside) ? Number(port) : assert.fail()),
      stop: async () => {
        server.stdin.end();
        await once(server, "close");
        console.log("the container is gone");
      },
    };
  }
}
