/** The part of a test that the suites use: `node:test`'s and tap's `t` both have it. */
export interface TestRunner {
  test (name: string, fn: () => Promise<void>): unknown
}
