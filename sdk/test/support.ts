import type { TestRunner } from '../src/testing/index.ts'

/** Runs a suite and returns the names of passed tests and the errors of failed ones. */
export async function runSuite (suite: (runner: TestRunner) => Promise<void>) {
  const passed: string[] = []
  const failed = new Map<string, string>()
  await suite({
    async test (name, fn) {
      try {
        await fn()
        passed.push(name)
      } catch (err) {
        failed.set(name, err instanceof Error ? err.message : String(err))
      }
    }
  })
  return { passed, failed }
}
