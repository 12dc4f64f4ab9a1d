"use strict";

// The errors of this package. Those with a name from Python are raised for the same mistakes.

class MockPlatformError extends Error {
  /**
   * @param {string} message
   * @param {import("../types/index").ErrorFacts} [facts]
   */
  constructor(message, { detail = message, status, faults = [], mistake, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.detail = detail;
    this.status = status;
    this.faults = faults;
    this.mistake = mistake;
  }
}

class Refused extends MockPlatformError {}
class Unreachable extends MockPlatformError {}
class CannotStart extends MockPlatformError {}
class MissingCredentials extends MockPlatformError {}
class ForeignHost extends MockPlatformError {}
class UnfiredExpectations extends MockPlatformError {}
class BadScenario extends MockPlatformError {}

class UnknownWorld extends MockPlatformError {}
class UnknownTable extends MockPlatformError {}
class CannotApprove extends MockPlatformError {}
class UnknownRecord extends MockPlatformError {}
class UnknownStream extends MockPlatformError {}
class BadEvent extends MockPlatformError {}
class UnknownScenario extends MockPlatformError {}
// Version 0.2.0 raised no more than `Refused` for these four.
class UnknownSnapshot extends Refused {}
class BadSnapshotName extends Refused {}
class TooManySnapshots extends Refused {}
class UnknownTransition extends Refused {}
class BadWorldName extends MockPlatformError {}
class TooManyWorlds extends MockPlatformError {}
class CannotPerform extends MockPlatformError {}
class CaseTooLarge extends MockPlatformError {}
class NothingDue extends MockPlatformError {}
class StoreUnwritable extends MockPlatformError {}
class StoreUnreachable extends MockPlatformError {}
class WorldElsewhere extends MockPlatformError {}
class WorldLost extends MockPlatformError {}
class BadRecord extends MockPlatformError {}
class BadParameters extends MockPlatformError {}
class BadQuery extends MockPlatformError {}
class ValueError extends MockPlatformError {}
class OverflowError extends MockPlatformError {}

// Mistakes that the control plane sends by name, as `mistake.kind`.
const MISTAKES = {
  UnknownWorld,
  UnknownTable,
  CannotApprove,
  UnknownRecord,
  UnknownStream,
  BadEvent,
  UnknownScenario,
  UnknownSnapshot,
  BadSnapshotName,
  TooManySnapshots,
  UnknownTransition,
  BadWorldName,
  TooManyWorlds,
  CannotPerform,
  CaseTooLarge,
  NothingDue,
  StoreUnwritable,
  StoreUnreachable,
  WorldElsewhere,
  WorldLost,
  BadRecord,
  BadParameters,
  BadQuery,
  ValueError,
  OverflowError,
};

/**
 * Returns the error that an answer of the control plane describes.
 *
 * @param {string} request Method and address.
 * @param {number} status
 * @param {any} problem The answer's document; undefined if it has none.
 * @returns {MockPlatformError}
 */
function describeRefusal(request, status, problem) {
  const detail = problem?.detail;
  if (typeof detail !== "string") {
    const foreign = "the answer does not come from a mock_platform. Use the url of its READY line.";
    return new Refused(`${request}: ${status}: ${foreign}`, { status });
  }
  const mistake = problem.mistake;
  const faults = (problem.faults ?? mistake?.faults ?? []).map(readFault);
  /** @type {Record<string, typeof MockPlatformError>} */
  const known = MISTAKES;
  const Known = mistake === undefined ? undefined : known[mistake.kind];
  if (Known !== undefined) return new Known(mistake.message, { status, faults, mistake });
  // A value that is wrong by itself; in Python it is not even sent.
  if (status === 422 && faults.length > 0) return new ValueError(detail, { status, faults });
  const hint =
    status === 401 ? " This process reads the token from MOCK_PLATFORM_CONTROL_TOKEN." : "";
  const message = `${request}: ${status}: ${detail}${hint}`;
  return new Refused(message, { detail, status, faults, mistake });
}

/**
 * @param {any} fault A pair of field and message, or an object with both.
 * @returns {import("../types/index").Fault}
 */
function readFault(fault) {
  return Array.isArray(fault) ? { field: fault[0], message: fault[1] } : fault;
}

module.exports = {
  MockPlatformError,
  Refused,
  Unreachable,
  CannotStart,
  MissingCredentials,
  ForeignHost,
  UnfiredExpectations,
  BadScenario,
  ...MISTAKES,
  MISTAKES,
  describeRefusal,
};
