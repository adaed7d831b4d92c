import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test } from 'tap'
import { createHasher, type HasherOptions } from '../../../plugins/hashing/hasher.ts'
import { FOLDERS, expectedHashes } from './fixtures.ts'

/** Threads take longer to start than these files to read: the same for all tests without options of their own. */
export const usual = createHasher({ folders: FOLDERS, threads: 2 })

export function setUp (t: Test, files: Record<string, Uint8Array | string>, options?: Partial<HasherOptions>) {
  const dir = t.testdir({})
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  const hasher = options === undefined ? usual : createHasher({ folders: FOLDERS, ...options })
  if (hasher !== usual) t.teardown(() => hasher.close())
  return { hasher, dir, path: (name: string) => join(dir, name) }
}

export const plain = (bytes: Uint8Array) => ({ ...expectedHashes(bytes), chd_sha1_hash: null, archive_members: null })
