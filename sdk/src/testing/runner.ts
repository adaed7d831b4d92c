/** The part of a test that the suites use; the `t` of `node:test` and of tap both have it. */
export interface TestRunner {
  test (name: string, fn: () => Promise<void>): unknown
}
