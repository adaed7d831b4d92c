import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test } from 'tap'
import { createHasher, type HasherOptions } from '../../../plugins/hashing/hasher.ts'
import { FOLDERS, expectedHashes } from '../../plugins/hashing/fixtures.ts'

/** Threads take longer to start than these archives to read: one for all tests without options of their own. */
export const usual = createHasher({ folders: FOLDERS, threads: 1 })

export function setUp (t: Test, options?: Partial<HasherOptions>) {
  const dir = t.testdir({})
  const hasher = options === undefined ? usual : createHasher({ folders: FOLDERS, threads: 1, ...options })
  if (hasher !== usual) t.teardown(() => hasher.close())
  return async (name: string, bytes: Uint8Array) => {
    writeFileSync(join(dir, name), bytes)
    return hasher.hashFile(join(dir, name))
  }
}

export const ownBytes = (bytes: Uint8Array, warning: RegExp) =>
  ({ ...expectedHashes(bytes), archive_members: null, warning })
