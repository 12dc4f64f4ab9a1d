// Calls each method that twitter-api-v2 has for version 1.1 once, under the platform's host names:
//   node v1.cjs   prints {failed: {METHOD: why}, missed: […]} as JSON.
"use strict";

const { deepEqual, equal, ok } = require("node:assert");
const { TwitterApi } = require("twitter-api-v2");

const get = (name) => process.env[`MOCK_PLATFORM_${name}`];
const client = new TwitterApi({
  appKey: get("CONSUMER_KEY"),
  appSecret: get("CONSUMER_SECRET"),
  accessToken: get("ACCESS_TOKEN"),
  accessSecret: get("ACCESS_TOKEN_SECRET"),
}).v1;

const ME = get("USER_ID"), OTHER = "3805104374", INES = "2790441185";
const [POST, FOREIGN_POST] = [1, 6].map((number) => `178990000000000000${number}`);
const LIST = "1715300000000000101", FOREIGN_LIST = "1715300000000000103";
const MESSAGE = "1990181773551677440", RECEIVED = "1990180010221305856";
const PLACE = "300bcc6e23a88361";
const VIDEO = "1712850617439560005", SUBTITLES = "1712850617439560008";
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

// What later calls need of earlier ones.
const made = {};

const has = (listed, id) => ok(listed.some((each) => each.id_str === id), `${id} is not listed`);
const hasId = (listed, id) => ok(listed.map(String).includes(id), `${id} is not listed`);

const calls = {
  tweet: async () => { made.post = (await client.tweet("Fresh")).id_str; },
  quote: async () => ok((await client.quote("Look", FOREIGN_POST)).is_quote_status),
  reply: async () => equal((await client.reply("Yes", made.post)).in_reply_to_status_id_str, made.post),
  tweetThread: async () => equal((await client.tweetThread(["One", "Two"])).length, 2),
  singleTweet: async () => equal((await client.singleTweet(made.post)).full_text, "Fresh"),
  tweets: async () => has(await client.tweets([made.post]), made.post),
  oembedTweet: async () => equal((await client.oembedTweet(POST)).type, "rich"),
  homeTimeline: async () => has((await client.homeTimeline()).tweets, made.post),
  mentionTimeline: async () => ok((await client.mentionTimeline()).tweets.length),
  userTimeline: async () => has((await client.userTimeline(ME)).tweets, made.post),
  userTimelineByUsername: async () =>
    has((await client.userTimelineByUsername("harbor_roasters")).tweets, made.post),
  favoriteTimeline: async () => ok((await client.favoriteTimeline(ME)).tweets),
  favoriteTimelineByUsername: async () =>
    ok((await client.favoriteTimelineByUsername("harbor_roasters")).tweets),
  deleteTweet: async () => equal((await client.deleteTweet(made.post)).id_str, made.post),

  user: async () => equal((await client.user({ user_id: INES })).id_str, INES),
  users: async () => has(await client.users({ user_id: [INES] }), INES),
  verifyCredentials: async () => equal((await client.verifyCredentials()).id_str, ME),
  searchUsers: async () => has((await client.searchUsers("harbor")).users, ME),
  listMutedUsers: async () => ok((await client.listMutedUsers()).users),
  listMutedUserIds: async () => ok((await client.listMutedUserIds()).ids),
  userFriendList: async () => ok((await client.userFriendList({ user_id: ME })).users.length),
  userFollowerList: async () => ok((await client.userFollowerList({ user_id: ME })).users.length),
  userFollowerIds: async () => hasId((await client.userFollowerIds({ user_id: ME })).ids, INES),
  userFollowingIds: async () => hasId((await client.userFollowingIds({ user_id: ME })).ids, INES),
  createFriendship: async () =>
    ok((await client.createFriendship({ screen_name: "northbike_co" })).following),
  updateFriendship: async () => {
    const { relationship } = await client.updateFriendship({ user_id: OTHER, retweets: false });
    equal(relationship.source.want_retweets, false);
  },
  friendshipsNoRetweets: async () => hasId(await client.friendshipsNoRetweets(), OTHER),
  friendship: async () => {
    const asked = { source_id: ME, target_id: OTHER };
    ok((await client.friendship(asked)).relationship.source.following);
  },
  friendships: async () =>
    deepEqual((await client.friendships({ user_id: [INES] }))[0].connections.sort(),
      ["followed_by", "following"]),
  friendshipsIncoming: async () => deepEqual((await client.friendshipsIncoming()).ids, []),
  friendshipsOutgoing: async () => ok((await client.friendshipsOutgoing()).ids.length),
  destroyFriendship: async () =>
    equal((await client.destroyFriendship({ user_id: OTHER })).following, false),
  reportUserAsSpam: async () => {
    const reported = { user_id: OTHER, perform_block: false };
    equal((await client.reportUserAsSpam(reported)).id_str, OTHER);
  },

  accountSettings: async () =>
    equal((await client.accountSettings()).screen_name, "harbor_roasters"),
  updateAccountSettings: async () =>
    equal((await client.updateAccountSettings({ lang: "de" })).language, "de"),
  updateAccountProfile: async () =>
    equal((await client.updateAccountProfile({ location: "Rotterdam" })).location, "Rotterdam"),
  updateAccountProfileImage: async () =>
    equal((await client.updateAccountProfileImage(PIXEL)).id_str, ME),
  updateAccountProfileBanner: async () => { await client.updateAccountProfileBanner(PIXEL); },
  userProfileBannerSizes: async () =>
    ok((await client.userProfileBannerSizes({ user_id: ME })).sizes.web.url),
  removeAccountProfileBanner: async () => { await client.removeAccountProfileBanner(); },

  createList: async () => { made.list = (await client.createList({ name: "Mills" })).id_str; },
  updateList: async () =>
    equal((await client.updateList({ list_id: made.list, mode: "private" })).mode, "private"),
  list: async () => equal((await client.list({ list_id: made.list })).id_str, made.list),
  lists: async () => has(await client.lists({ user_id: ME }), made.list),
  addListMembers: async () => { await client.addListMembers({ list_id: made.list, user_id: INES }); },
  listMembers: async () => has((await client.listMembers({ list_id: made.list })).users, INES),
  listGetMember: async () =>
    equal((await client.listGetMember({ list_id: made.list, user_id: INES })).id_str, INES),
  listMemberships: async () => ok((await client.listMemberships({ user_id: INES })).lists.length),
  listOwnerships: async () => has((await client.listOwnerships({ user_id: ME })).lists, made.list),
  listStatuses: async () => ok((await client.listStatuses({ list_id: made.list })).tweets),
  removeListMembers: async () => {
    await client.removeListMembers({ list_id: made.list, user_id: INES });
  },
  removeList: async () => equal((await client.removeList({ list_id: made.list })).id_str, made.list),
  subscribeToList: async () => { await client.subscribeToList({ list_id: FOREIGN_LIST }); },
  listSubscribers: async () => has((await client.listSubscribers({ list_id: LIST })).users, INES),
  listGetSubscriber: async () =>
    equal((await client.listGetSubscriber({ list_id: LIST, user_id: INES })).id_str, INES),
  listSubscriptions: async () =>
    has((await client.listSubscriptions({ user_id: ME })).lists, FOREIGN_LIST),
  unsubscribeOfList: async () => { await client.unsubscribeOfList({ list_id: FOREIGN_LIST }); },

  uploadMedia: async () => { made.media = await client.uploadMedia(PIXEL, { mimeType: "image/png" }); },
  mediaInfo: async () => equal((await client.mediaInfo(made.media)).media_id_string, made.media),
  createMediaMetadata: async () => {
    await client.createMediaMetadata(made.media, { alt_text: { text: "A cup" } });
  },
  createMediaSubtitles: async () => {
    const english = { media_id: SUBTITLES, language_code: "EN", display_name: "English" };
    await client.createMediaSubtitles(VIDEO, [english]);
  },
  deleteMediaSubtitles: async () => { await client.deleteMediaSubtitles(VIDEO, "EN"); },

  sendDm: async () =>
    equal((await client.sendDm({ recipient_id: OTHER, text: "Beans?" })).event.type, "message_create"),
  getDmEvent: async () => equal((await client.getDmEvent(MESSAGE)).event.id, MESSAGE),
  listDmEvents: async () => ok((await client.listDmEvents()).events.length),
  markDmAsRead: async () => { await client.markDmAsRead(RECEIVED, OTHER); },
  indicateDmTyping: async () => { await client.indicateDmTyping(OTHER); },
  deleteDm: async () => { await client.deleteDm(MESSAGE); },
  newWelcomeDm: async () => {
    made.welcome = (await client.newWelcomeDm("hello", { text: "Welcome!" })).welcome_message.id;
  },
  getWelcomeDm: async () => equal((await client.getWelcomeDm(made.welcome)).welcome_message.name, "hello"),
  updateWelcomeDm: async () => {
    const changed = await client.updateWelcomeDm(made.welcome, { text: "Back soon" });
    equal(changed.welcome_message.message_data.text, "Back soon");
  },
  listWelcomeDms: async () =>
    ok((await client.listWelcomeDms()).welcomeMessages.some(({ id }) => id === made.welcome)),
  setWelcomeDm: async () => { await client.setWelcomeDm(made.welcome); },
  listWelcomeDmRules: async () => {
    const { welcome_message_rules: rules } = await client.listWelcomeDmRules();
    deepEqual(rules.map((rule) => rule.welcome_message_id), [made.welcome]);
    made.rule = rules[0].id;
  },
  getWelcomeDmRule: async () =>
    equal((await client.getWelcomeDmRule(made.rule)).welcome_message_rule.id, made.rule),
  deleteWelcomeDmRule: async () => { await client.deleteWelcomeDmRule(made.rule); },
  newWelcomeDmRule: async () => { await client.newWelcomeDmRule(made.welcome); },
  deleteWelcomeDm: async () => { await client.deleteWelcomeDm(made.welcome); },

  trendsByPlace: async () => ok((await client.trendsByPlace(1))[0].trends.length),
  trendsAvailable: async () => ok((await client.trendsAvailable()).length),
  trendsClosest: async () => equal((await client.trendsClosest(51.5, 0))[0].name, "London"),
  geoPlace: async () => equal((await client.geoPlace(PLACE)).id, PLACE),
  geoSearch: async () => equal((await client.geoSearch({ query: "Sea" })).result.places[0].id, PLACE),
  geoReverseGeoCode: async () =>
    equal((await client.geoReverseGeoCode({ lat: 47.6, long: -122.3 })).result.places[0].id, PLACE),
  rateLimitStatuses: async () => ok((await client.rateLimitStatuses("search")).resources.search),
  supportedLanguages: async () => ok((await client.supportedLanguages()).length),
};

/** Methods that ask nothing by themselves, whose streams have ended, or that fetch a picture. */
const NOT_CALLED = new Set([
  "awaitForMediaProcessingCompletion", "getUploadMediaRequirements", "mediaChunkedUpload",
  "filterStream", "sampleStream", "downloadDmImage",
]);

function listMethods() {
  const names = new Set();
  let type = Object.getPrototypeOf(client);
  for (; type.constructor.name.startsWith("TwitterApiv1"); type = Object.getPrototypeOf(type)) {
    for (const [name, value] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
      if (value.value !== undefined && name !== "constructor") names.add(name);
    }
  }
  return [...names];
}

(async () => {
  const failed = {};
  for (const [name, call] of Object.entries(calls)) {
    try {
      await call();
    } catch (error) {
      failed[name] = `${error.message} ${JSON.stringify(error.data ?? null)}`;
    }
  }
  const missed = listMethods().filter((name) => !(name in calls || NOT_CALLED.has(name)));
  process.stdout.write(JSON.stringify({ failed, missed }), () => process.exit());
})();
