// What a receiver of webhooks takes, refuses and says when nothing comes.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import test from "node:test";

import { WebhookReceiver } from "mock-platform";

const SECRET = "a consumer secret";
const sign = (body) => `sha256=${createHmac("sha256", SECRET).update(body).digest("base64")}`;

async function open(t) {
  const receiver = await WebhookReceiver.start(SECRET);
  t.after(() => receiver.stop());
  const send = async (body, signature = sign(body)) => {
    const headers = { "x-platform-webhooks-signature": signature };
    return (await fetch(receiver.url, { method: "POST", body, headers })).status;
  };
  return { receiver, send };
}

test("a challenge is answered with the secret", async (t) => {
  const { receiver } = await open(t);

  const answer = await fetch(`${receiver.url}?crc_token=abc`);

  assert.deepEqual(await answer.json(), { response_token: sign("abc") });
  assert.deepEqual(receiver.challenges, ["abc"]);
});

test("deliveries are collected, with the statuses that the test chose", async (t) => {
  const { receiver, send } = await open(t);
  receiver.answerNext(500);

  const waiting = receiver.wait(2);
  assert.deepEqual([await send('{"n":1}'), await send('{"n":2}')], [500, 200]);

  assert.deepEqual((await waiting).map((each) => each.json().n), [1, 2]);
  for (const wrong of ["500", [500], 99]) {
    assert.throws(() => receiver.answerNext(wrong), { message: /from 200 to 599, as in answerNext/ });
  }
});

test("a foreign signature is refused and kept apart", async (t) => {
  const { receiver, send } = await open(t);

  assert.equal(await send("{}", "sha256=wrong"), 403);

  assert.equal(receiver.refused.length, 1);
  const told = /received 0\. 1 more had another signature[^]*never challenged/;
  await assert.rejects(receiver.wait(1, 0), told);
  await assert.rejects(WebhookReceiver.start(), { name: "TypeError", message: /consumer secret/ });
});

test("who sends no address, or leaves in the middle, does not end the program", async (t) => {
  const { receiver, send } = await open(t);
  const head = (method, path) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n`;
  for (const part of [`${head("GET", "//")}\r\n`, `${head("POST", "/")}Content-Length: 9\r\n\r\n{`]) {
    const socket = net.connect(receiver.port, "127.0.0.1");
    socket.end(part);
    socket.resume();
    await once(socket, "close");
  }

  assert.equal(await send("{}"), 200);
});

test("a receiver that knows its world says why nothing came", async (t) => {
  const asked = [];
  const explainDeliveries = async (url) => [`nobody subscribed for ${asked.push(url)}`, "so it is"];
  const receiver = await WebhookReceiver.start(SECRET, { world: { explainDeliveries } });
  t.after(() => receiver.stop());

  await assert.rejects(receiver.wait(1, 0), /every attempt\.\n  nobody subscribed for 1\n  so it is$/);
  assert.deepEqual(asked, [receiver.url]);
});

test("a world that has ended does not hide what came", async (t) => {
  const explainDeliveries = () => Promise.reject(new Error("No server answers."));
  const receiver = await WebhookReceiver.start(SECRET, { world: { explainDeliveries } });
  t.after(() => receiver.stop());

  await assert.rejects(receiver.wait(1, 0), /received 0[^]*\n  Why is not known: No server answers\./);
});

test("an option that does not exist is refused", async () => {
  await assert.rejects(WebhookReceiver.start(SECRET, { wold: {} }), /no option 'wold'. Did you mean 'world'/);
});
