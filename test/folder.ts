import type { Test } from 'tap'

/**
 * Creates a test's own folder, which exists until all teardowns are done. tap deletes a folder before it runs teardowns
 * that were registered after the folder, which would delete files of a server that is still closing.
 */
export function makeFolder (t: Pick<Test, 'testdir' | 'teardown'>, content: Parameters<Test['testdir']>[0] = {}): string {
  t.teardown(() => undefined)
  return t.testdir(content)
}
