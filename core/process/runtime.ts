// Imported separately, because all of semver would use three times as much memory in every process.
import gte from 'semver/functions/gte.js'

/**
 * The first version with `shouldUpgradeCallback`:
 * https://nodejs.org/api/http.html#httpcreateserveroptions-requestlistener
 */
const CHOOSES_UPGRADES = '24.9.0'

/** Returns warnings about features that do not work on this version of Node. */
export function listRuntimeWarnings (version = process.versions.node): string[] {
  return gte(version, CHOOSES_UPGRADES)
    ? []
    : [`Node ${version} closes requests that offer HTTP/2 (Upgrade: h2c), as curl --http2 and Java's client do; ` +
      `install Node ${CHOOSES_UPGRADES} or later from https://nodejs.org and start svc with it`]
}
