import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { HashCrashError } from '../../../plugins/hashing/hash-errors.ts'
import { type HashPath, type Hasher, createHasher } from '../../../plugins/hashing/hasher.ts'
import { skipCrashedFiles } from '../../../plugins/hashing/crashed-files.ts'
import { shareTestApp } from '../../support.ts'
import { FOLDERS } from './fixtures.ts'

const fresh = shareTestApp(t)
const real = createHasher({ folders: FOLDERS, threads: 1 })
t.teardown(() => real.close())

/** Creates a hasher that crashes at every file of this name whose content it reads. */
function createFragile (name: string) {
  const read: string[] = []
  function crashAt (path: HashPath, raw: string | undefined): void {
    if (raw !== undefined) return
    read.push(String(path))
    if (String(path).endsWith(name)) throw new HashCrashError(name, 'the process that read it ended with SIGSEGV')
  }
  const hasher: Hasher = {
    ...real,
    async hashFile (path, options) {
      crashAt(path, options?.raw)
      return await real.hashFile(path, options)
    },
    async hashGroup (paths, options) {
      paths.forEach((path, index) => { crashAt(path, options?.raw?.[index]) })
      return await real.hashGroup(paths, options)
    },
    async hashRetroAchievements (path, console, options) {
      crashAt(path, undefined)
      return await real.hashRetroAchievements(path, console, options)
    }
  }
  return { hasher, read }
}

t.test('later scans skip a file that crashed the process, until the file changes', async (t) => {
  const { app } = await fresh(t)
  const path = join(t.testdir({ 'Bad.zip': 'not a zip' }), 'Bad.zip')
  const { hasher, read } = createFragile('Bad.zip')
  const first = await skipCrashedFiles(app, hasher).hashFile(path)
  t.match(first, { sha1_hash: /^[0-9a-f]{40}$/, warning: /SIGSEGV; the server reads its content again only after the file changes/ })
  const next = skipCrashedFiles(app, hasher)
  t.match(await next.hashFile(path), { sha1_hash: first.sha1_hash, warning: /SIGSEGV/ })
  t.match(await next.hashRetroAchievements(path, 3), { ra_hash: null, warning: /SIGSEGV/ })
  t.equal(read.length, 1, 'its content was read once')
  writeFileSync(path, 'a longer content')
  utimesSync(path, 1, 1)
  await skipCrashedFiles(app, hasher).hashFile(path)
  t.equal(read.length, 2, 'a changed file is tried again')
})

t.test('the crashing file of a folder is found, and the others are hashed', async (t) => {
  const { app } = await fresh(t)
  const folder = t.testdir({ 'a.bin': 'a', 'Bad.zip': 'not a zip', 'c.bin': 'c' })
  const { hasher } = createFragile('Bad.zip')
  const remembering = skipCrashedFiles(app, hasher)
  const { files } = await remembering.hashGroup(['a.bin', 'Bad.zip', 'c.bin'].map((name) => join(folder, name)))
  t.match(files, [{ crc_hash: /^.{8}$/ }, { warning: /SIGSEGV/ }, { crc_hash: /^.{8}$/ }])
  t.same((await app.pg.query('select path from crashed_files')).rows, [{ path: join(folder, 'Bad.zip') }])
})
