// The same objects for `import`: an error is an instance of the same class either way.

import face from "./index.js";

export const {
  MockPlatform,
  MockPlatformError,
  Refused,
  Unreachable,
  CannotStart,
  MissingCredentials,
  ForeignHost,
  UnfiredExpectations,
  BadScenario,
  UnknownWorld,
  UnknownTable,
  CannotApprove,
  UnknownRecord,
  UnknownStream,
  BadEvent,
  UnknownScenario,
  BadWorldName,
  TooManyWorlds,
  CannotPerform,
  StoreUnwritable,
  StoreUnreachable,
  WorldElsewhere,
  WorldLost,
  BadRecord,
  BadParameters,
  BadQuery,
  ValueError,
  OverflowError,
} = face;
