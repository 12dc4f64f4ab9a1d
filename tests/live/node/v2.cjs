// Calls each method that twitter-api-v2 has for version 2 once, under the platform's real host names:
//   node v2.cjs   prints {failed: {METHOD: why}, methods: […], routes: […], offered: […]} as JSON.
// `offered` are the routes in the files of the client, `routes` those that were called.
"use strict";

const { deepEqual, equal, ok } = require("node:assert");
const { readFileSync, readdirSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { setTimeout } = require("node:timers/promises");
const { ETwitterStreamEvent, TwitterApi } = require("twitter-api-v2");

const get = (name) => process.env[`MOCK_PLATFORM_${name}`];
const routes = new Set();

function note({ params }) {
  const path = params.url.split("/2/")[1];
  if (path !== undefined) routes.add(`${params.method} ${path.replace(/\/\d{5,}/, "/:id")}`);
}

const plugins = [{ onBeforeRequestConfig: note, onBeforeStreamRequestConfig: note }];
const make = (tokens) => new TwitterApi(tokens, { plugins }).v2;
const app = make(get("BEARER_TOKEN"));
const signed = make({
  appKey: get("CONSUMER_KEY"),
  appSecret: get("CONSUMER_SECRET"),
  accessToken: get("ACCESS_TOKEN"),
  accessSecret: get("ACCESS_TOKEN_SECRET"),
});
const user = make(get("OAUTH2_ACCESS_TOKEN"));

const ME = get("USER_ID"), OTHER = "3805104374", INES = "2790441185";
const [POST, REPLY, FOREIGN_POST] = [1, 2, 6].map((number) => `178990000000000000${number}`);
const FOREIGN_LIST = "1715300000000000103", COMMUNITY = "1493446837214187523";
const LIVE = "1HarborTaste1", TICKETED = "1HarborTicket";
const WITH_OTHER = `${ME}-${OTHER}`;
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

// What later calls need of earlier ones.
const made = {};

const has = (listed, id) => ok(listed.some((each) => each.id === id), `${id} is not listed`);
const holds = (data, wanted) => deepEqual({ ...data, ...wanted }, data);
const hasPost = (page, id) => has(page.tweets, id);
const hasUser = (page, id) => has(page.users, id);
const hasList = (page, id) => has(page.lists, id);

/** The stream carries a post of the user; of a partition only some, so several are made. */
async function carries(stream) {
  const line = new Promise((resolve, reject) => {
    stream.once(ETwitterStreamEvent.Data, resolve);
    stream.once(ETwitterStreamEvent.ConnectionError, reject);
    stream.once(ETwitterStreamEvent.ConnectionClosed, reject);
  });
  try {
    for (let number = 0; number < 6; number += 1) {
      await signed.tweet(`Espresso, cup ${number} of ${stream.constructor.name} ${Math.random()}`);
    }
    equal(typeof (await line).data.text, "string");
  } finally {
    stream.removeAllListeners();
    stream.close();
  }
}

const calls = {
  me: async () => equal((await user.me()).data.id, ME),
  user: async () => equal((await app.user(INES)).data.id, INES),
  users: async () => has((await app.users([OTHER, INES])).data, INES),
  userByUsername: async () => equal((await app.userByUsername("northbike_co")).data.id, OTHER),
  usersByUsernames: async () => has((await app.usersByUsernames(["northbike_co"])).data, OTHER),
  follow: async () => holds((await signed.follow(ME, INES)).data, { following: true }),
  following: async () => hasUser(await app.following(ME, { asPaginator: true }), INES),
  followers: async () => has((await app.followers(INES)).data, ME),
  homeTimeline: async () => hasPost(await signed.homeTimeline(), FOREIGN_POST),
  unfollow: async () => holds((await signed.unfollow(ME, INES)).data, { following: false }),
  mute: async () => holds((await signed.mute(ME, INES)).data, { muting: true }),
  userMutingUsers: async () => hasUser(await signed.userMutingUsers(ME), INES),
  unmute: async () => holds((await signed.unmute(ME, INES)).data, { muting: false }),
  block: async () => holds((await signed.block(ME, INES)).data, { blocking: true }),
  userBlockingUsers: async () => hasUser(await signed.userBlockingUsers(ME), INES),
  unblock: async () => holds((await signed.unblock(ME, INES)).data, { blocking: false }),

  async tweet() {
    const { data } = await signed.tweet("Fresh");
    equal(data.text, "Fresh");
    made.post = data.id;
  },
  reply: async () => ok((await signed.reply("So it is", made.post)).data.id),
  async quote() {
    const { data } = await signed.quote("Look", made.post);
    made.quote = data.id;
  },
  quotes: async () => hasPost(await app.quotes(made.post), made.quote),
  tweetThread: async () => equal((await signed.tweetThread(["One", "Two"])).length, 2),
  singleTweet: async () => equal((await app.singleTweet(POST)).data.id, POST),
  tweets: async () => has((await app.tweets([POST, REPLY])).data, REPLY),
  search: async () => hasPost(await app.search("from:harbor_roasters huila"), POST),
  searchAll: async () => hasPost(await app.searchAll("from:harbor_roasters huila"), POST),
  tweetCountRecent: async () => ok((await app.tweetCountRecent("coffee")).meta.total_tweet_count > 0),
  tweetCountAll: async () => ok((await app.tweetCountAll("coffee")).meta.total_tweet_count > 0),
  userTimeline: async () => hasPost(await app.userTimeline(ME, { max_results: 100 }), POST),
  userMentionTimeline: async () =>
    hasPost(await app.userMentionTimeline(ME, { max_results: 100 }), REPLY),
  like: async () => holds((await signed.like(ME, POST)).data, { liked: true }),
  userLikedTweets: async () => hasPost(await signed.userLikedTweets(ME), POST),
  tweetLikedBy: async () => has((await signed.tweetLikedBy(POST)).data, ME),
  unlike: async () => holds((await signed.unlike(ME, POST)).data, { liked: false }),
  retweet: async () => holds((await signed.retweet(ME, FOREIGN_POST)).data, { retweeted: true }),
  tweetRetweetedBy: async () => has((await app.tweetRetweetedBy(FOREIGN_POST)).data, ME),
  unretweet: async () =>
    holds((await signed.unretweet(ME, FOREIGN_POST)).data, { retweeted: false }),
  hideReply: async () => holds((await signed.hideReply(REPLY, true)).data, { hidden: true }),
  bookmark: async () => holds((await user.bookmark(FOREIGN_POST)).data, { bookmarked: true }),
  bookmarks: async () => hasPost(await user.bookmarks(), FOREIGN_POST),
  deleteBookmark: async () =>
    holds((await user.deleteBookmark(FOREIGN_POST)).data, { bookmarked: false }),
  deleteTweet: async () => holds((await signed.deleteTweet(made.post)).data, { deleted: true }),

  async uploadMedia() {
    made.medium = await signed.uploadMedia(PIXEL, { media_type: "image/png" });
    await signed.tweet("With a picture", { media: { media_ids: [made.medium] } });
  },
  waitForMediaProcessing: async () => equal(await signed.waitForMediaProcessing(made.medium), undefined),
  createMediaMetadata: async () => {
    const { data } = await signed.createMediaMetadata(made.medium, { alt_text: { text: "A dot" } });
    equal(data.id, made.medium);
  },

  async createList() {
    const { data } = await signed.createList({ name: "Roasters", private: false });
    equal(data.name, "Roasters");
    made.list = data.id;
  },
  updateList: async () =>
    holds((await signed.updateList(made.list, { name: "Mills" })).data, { updated: true }),
  list: async () => equal((await app.list(made.list)).data.name, "Mills"),
  listsOwned: async () => hasList(await app.listsOwned(ME), made.list),
  addListMember: async () =>
    holds((await signed.addListMember(made.list, INES)).data, { is_member: true }),
  listMembers: async () => hasUser(await app.listMembers(made.list), INES),
  listMemberships: async () => hasList(await app.listMemberships(INES), made.list),
  listTweets: async () => hasPost(await app.listTweets(made.list), FOREIGN_POST),
  removeListMember: async () =>
    holds((await signed.removeListMember(made.list, INES)).data, { is_member: false }),
  subscribeToList: async () =>
    holds((await signed.subscribeToList(ME, FOREIGN_LIST)).data, { following: true }),
  listFollowed: async () => hasList(await app.listFollowed(ME), FOREIGN_LIST),
  listFollowers: async () => hasUser(await app.listFollowers(FOREIGN_LIST), ME),
  unsubscribeOfList: async () =>
    holds((await signed.unsubscribeOfList(ME, FOREIGN_LIST)).data, { following: false }),
  pinList: async () => holds((await signed.pinList(ME, made.list)).data, { pinned: true }),
  unpinList: async () => holds((await signed.unpinList(ME, made.list)).data, { pinned: false }),
  removeList: async () => holds((await signed.removeList(made.list)).data, { deleted: true }),

  async sendDmToParticipant() {
    const sent = await signed.sendDmToParticipant(OTHER, { text: "Beans?" });
    equal(sent.dm_conversation_id ?? sent.data.dm_conversation_id, WITH_OTHER);
  },
  sendDmInConversation: async () =>
    ok((await signed.sendDmInConversation(WITH_OTHER, { text: "Beans!" })).data.dm_event_id),
  createDmConversation: async () =>
    ok((await signed.createDmConversation({
      conversation_type: "Group",
      participant_ids: [OTHER, INES],
      message: { text: "Beans for all" },
    })).data.dm_event_id),
  listDmEvents: async () => ok((await signed.listDmEvents()).events.length > 2),
  listDmEventsWithParticipant: async () =>
    equal((await signed.listDmEventsWithParticipant(OTHER)).events[0].text, "Beans!"),
  listDmEventsOfConversation: async () =>
    equal((await signed.listDmEventsOfConversation(WITH_OTHER)).events[0].text, "Beans!"),

  space: async () => equal((await app.space(LIVE)).data.id, LIVE),
  spaces: async () => has((await app.spaces([LIVE])).data, LIVE),
  spacesByCreators: async () => has((await app.spacesByCreators([ME])).data, LIVE),
  searchSpaces: async () => has((await app.searchSpaces({ query: "coffee" })).data, LIVE),
  spaceBuyers: async () => ok((await user.spaceBuyers(TICKETED)).data.length > 0),
  spaceTweets: async () => has((await app.spaceTweets(LIVE)).data, POST),

  updateStreamRules: async () =>
    equal((await app.updateStreamRules({ add: [{ value: "espresso" }] })).data[0].value, "espresso"),
  streamRules: async () =>
    ok((await app.streamRules()).data.some((rule) => rule.value === "espresso")),
  searchStream: async () => carries(await app.searchStream()),
  sampleStream: async () => carries(await app.sampleStream()),
  sample10Stream: async () => carries(await app.sample10Stream({ partition: 1 })),

  async sendComplianceJob() {
    const { data } = await app.sendComplianceJob({ type: "tweets", ids: [made.post, POST] });
    made.job = data;
  },
  complianceJob: async () => equal((await app.complianceJob(made.job.id)).data.id, made.job.id),
  complianceJobs: async () => has((await app.complianceJobs({ type: "tweets" })).data, made.job.id),
  complianceJobResult: async () =>
    deepEqual((await app.complianceJobResult(made.job)).map((each) => each.id), [made.post]),

  usage: async () => ok((await app.usage()).data.project_cap),
  community: async () => equal((await app.community(COMMUNITY)).data.id, COMMUNITY),
  searchCommunities: async () => has((await signed.searchCommunities("roasters")).data, COMMUNITY),
};

/** What waits for something that does not come ends as a failure. */
async function late() {
  await setTimeout(5000, undefined, { ref: false });
  throw new Error("nothing came");
}

/** The methods of the client, without what is another client. */
function listMethods() {
  const names = new Set();
  for (let type = app; type.constructor.name.startsWith("TwitterApiv2");) {
    type = Object.getPrototypeOf(type);
    for (const [name, value] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
      if (value.value !== undefined && name !== "constructor") names.add(name);
    }
    if (type.constructor.name === "TwitterApiv2ReadOnly") break;
  }
  return [...names];
}

function listOffered() {
  const folder = join(dirname(require.resolve("twitter-api-v2")), "v2");
  const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const text = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  const found = text.matchAll(/this\.(get|getStream|post|put|delete)\(['`]([^'`]+)['`]/g);
  return [...found].map(([, verb, path]) => {
    const method = verb === "getStream" ? "GET" : verb.toUpperCase();
    return `${method} ${path.replace(/\$\{\w+\}/, ":id")}`;
  });
}

(async () => {
  const failed = {};
  for (const [name, call] of Object.entries(calls)) {
    try {
      await Promise.race([call(), late()]);
    } catch (error) {
      failed[name] = `${error.message} ${JSON.stringify(error.data ?? null)}`;
    }
  }
  const missed = listMethods().filter((name) => !(name in calls));
  const told = { failed, missed, routes: [...routes], offered: [...new Set(listOffered())] };
  process.stdout.write(JSON.stringify(told), () => process.exit());
})();
