// The same package in a module of CommonJS.

import { MockPlatform, UnknownWorld } from "mock-platform";
import face = require("mock-platform");

export async function names(): Promise<string[]> {
  const platform: face.MockPlatform = await MockPlatform.connect("http://127.0.0.1:8080");
  const fault: face.MockPlatformError = new UnknownWorld("There is no world.");
  return [...(await platform.worlds()), fault.detail];
}
