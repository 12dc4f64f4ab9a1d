// Reads with clients that go past the proxy: an agent of one's own, plain http, and HTTP/2.
"use strict";

const http = require("node:http");
const http2 = require("node:http2");
const https = require("node:https");

const show = (name) => (answer) => {
  answer.resume();
  console.log(name, answer.statusCode);
};
https.get("https://api.x.com/2/openapi.json", { agent: new https.Agent() }, show("agent"));
http.get("http://api.x.com/2/openapi.json", show("http"));
http.get("http://localhost:9/", show("local")).on("error", () => {});
const session = http2.connect("https://api.x.com");
session.on("error", (fault) => console.log("http2", fault.message));
const asked = session.request({ ":path": "/2/openapi.json" });
asked.on("response", (headers) => console.log("http2", headers[":status"]));
asked.on("end", () => session.close());
asked.resume();
