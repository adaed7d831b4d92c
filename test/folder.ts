import type { Test } from 'tap'

/**
 * A test's own folder, which is there until all its teardowns are over. tap removes one before it runs a teardown that
 * was registered later than it: from below a server that still ends.
 */
export function makeFolder (t: Pick<Test, 'testdir' | 'teardown'>, content: Parameters<Test['testdir']>[0] = {}): string {
  t.teardown(() => undefined)
  return t.testdir(content)
}
