// All of semver would be three times as much, in every process.
import gte from 'semver/functions/gte.js'

/** The first with `shouldUpgradeCallback`: https://nodejs.org/api/http.html#httpcreateserveroptions-requestlistener */
const CHOOSES_UPGRADES = '24.9.0'

/** What the server cannot do on this Node. */
export function listRuntimeWarnings (version = process.versions.node): string[] {
  return gte(version, CHOOSES_UPGRADES)
    ? []
    : [`Node ${version} closes requests that offer HTTP/2 (Upgrade: h2c), as curl --http2 and Java's client do; ` +
      `install Node ${CHOOSES_UPGRADES} or later from https://nodejs.org and start svc with it`]
}
