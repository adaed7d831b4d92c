import { execFile } from 'node:child_process'
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { type Entry, type EntryProblem, type ListOptions, listEntries } from '../../../plugins/entries/entries.ts'
import { PathRefusedError } from '../../../core/files/safe-path.ts'
import { collect, exclusionRules, generatePlatform } from '../library/generate-library.ts'
import { asOtherUser, makeReachableFolder } from '../library/other-user.ts'
import { FOLDER } from './entries-support.ts'

async function list (libraryDir: string, options: Partial<ListOptions> = {}) {
  const { entries, problems } = listEntries({ libraryDir, folder: FOLDER, rules: exclusionRules(), ...options })
  return { entries: await collect(entries), problems }
}

const names = (entries: Entry[]) => entries.map((entry) => entry.fs_name)
const paths = (entries: Entry[]) =>
  entries.flatMap((entry) => entry.files.map((file) => `${file.file_path}/${file.file_name}`))
const reasons = (problems: EntryProblem[]) => Object.fromEntries(problems.map(({ path, reason }) => [path, reason]))

t.test('files and folders of a platform are entries, sorted by the bytes of their names', async (t) => {
  const library = t.testdir({
    roms: { snes: { 'b.sfc': '22', 'a.sfc': '1', 'B.sfc': '', 'é.sfc': '', '🎮.sfc': '', '\uffee.sfc': '', Game: { 'x.bin': '' } } }
  })
  const { entries, problems } = await list(library)
  t.same(names(entries), ['B.sfc', 'Game', 'a.sfc', 'b.sfc', 'é.sfc', '\uffee.sfc', '🎮.sfc'])
  t.same(problems, [])
})

t.test('a file entry has its path, size, time and inode', async (t) => {
  const library = t.testdir({ roms: { snes: { 'a.sfc': '123' } } })
  await utimes(join(library, FOLDER, 'a.sfc'), 1_700_000_000, 1_700_000_000.25)
  const { entries } = await list(library)
  t.match(entries, [{
    fs_name: 'a.sfc',
    kind: 'file',
    files: [{
      file_name: 'a.sfc',
      file_path: FOLDER,
      absolute_path: join(library, FOLDER, 'a.sfc'),
      file_size_bytes: 3,
      mtime: 1_700_000_000_250,
      inode: /^\d+$/,
      is_top_level: true,
      category: null
    }],
    problems: []
  }])
})

t.test("a folder's own files precede those of its subfolders, each with its category", async (t) => {
  const library = t.testdir({
    roms: {
      snes: {
        Game: {
          'z.bin': '',
          DLC: { 'one.pkg': '', Deep: { 'two.pkg': '' } },
          Patchs: { 'a.ips': '' },
          art: { 'b.png': '' },
          dlc: { patch: { 'c.ips': '' } }
        }
      }
    }
  })
  const { entries } = await list(library)
  t.same(entries[0]?.files.map((file) => [file.file_path, file.file_name, file.category, file.is_top_level]), [
    ['roms/snes/Game', 'z.bin', null, true],
    ['roms/snes/Game/DLC', 'one.pkg', 'dlc', false],
    ['roms/snes/Game/DLC/Deep', 'two.pkg', 'dlc', false],
    ['roms/snes/Game/Patchs', 'a.ips', 'patch', false],
    ['roms/snes/Game/art', 'b.png', null, false],
    ['roms/snes/Game/dlc/patch', 'c.ips', 'dlc', false]
  ])
})

t.test('the names of the platform and of the game decide no category', async (t) => {
  const library = t.testdir({ roms: { demos: { Patch: { 'a.bin': '', sub: { 'b.bin': '' } } } } })
  const { entries } = await list(library, { folder: 'roms/demos' })
  t.same(entries[0]?.files.map((file) => file.category), [null, null])
})

t.test('excluded files, media folders and leftovers are neither ROMs nor parts', async (t) => {
  const library = t.testdir({
    roms: {
      snes: {
        'gamelist.xml': '',
        'a.sfc': '',
        'a.SRM': '',
        covers: { 'a.png': '' },
        '@eaDir': { x: '' },
        '.keep': '',
        Game: { 'x.bin': '', 'Thumbs.db': '', '@eaDir': { y: '' }, assets: { 'z.pak': '' }, 'readme.nfo': '' }
      }
    }
  })
  const rules = exclusionRules({ single: { extensions: ['srm'] }, parts: { extensions: ['nfo'] } })
  const { entries, problems } = await list(library, { rules })
  t.same(paths(entries),
    ['roms/snes/.keep', 'roms/snes/Game/x.bin', 'roms/snes/Game/assets/z.pak', 'roms/snes/a.sfc'])
  t.same(problems, [])
})

t.test('an empty folder is a problem and not a ROM', async (t) => {
  const library = t.testdir({ roms: { snes: { Empty: { deeper: {} }, Dust: { 'Thumbs.db': '' }, 'a.sfc': '' } } })
  const { entries, problems } = await list(library)
  t.same(names(entries), ['a.sfc'])
  t.match(problems, [
    { fs_name: 'Dust', path: 'roms/snes/Dust', reason: /^empty folder/ },
    { fs_name: 'Empty', path: 'roms/snes/Empty', reason: /^empty folder/ }
  ])
})

t.test('names of any characters and of 255 bytes are entries', { skip: process.platform === 'win32' }, async (t) => {
  const odd = ['line\nfeed', 'bell\u0007', '🎮'.repeat(60) + 'x'.repeat(15), 'a\\b', '%2e%2e', '...', ' ', '-rf', '$(x)', '\ufffd']
  const library = t.testdir({ roms: { snes: {} } })
  for (const name of odd) await writeFile(join(library, FOLDER, name), '')
  const { entries, problems } = await list(library)
  t.same(new Set(names(entries)), new Set(odd))
  t.same(problems, [])
})

t.test('a name that is not valid UTF-8 is skipped and shown escaped', { skip: process.platform !== 'linux' }, async (t) => {
  const library = t.testdir({ roms: { snes: { 'a.sfc': '', Game: { 'a.bin': '' } } } })
  const bad = ['roms/snes/caf\xe9.sfc', 'roms/snes/Game/\xff\n.bin', 'roms/snes/\xc0\xaf']
    .map((path) => Buffer.from(join(library, path), 'latin1'))
  for (const path of bad) await writeFile(path, '')
  const { entries, problems } = await list(library)
  for (const path of bad) await rm(path)
  t.same(paths(entries), ['roms/snes/Game/a.bin', 'roms/snes/a.sfc'])
  t.same(reasons(problems), {
    'roms/snes/caf\\xe9.sfc': 'the name is not valid UTF-8; rename it',
    'roms/snes/Game/\\xff\\x0a.bin': 'the name is not valid UTF-8; rename it',
    'roms/snes/\\xc0\\xaf': 'the name is not valid UTF-8; rename it'
  })
  t.same(entries[0]?.problems.map((problem) => problem.fs_name), ['Game'])
})

t.test('links inside the library resolve to the real path of their files', async (t) => {
  const library = t.testdir({ shared: { 'one.sfc': '1', Set: { 'x.bin': '' } }, roms: { snes: { Game: { 'own.bin': '' } } } })
  await symlink('../../shared/one.sfc', join(library, FOLDER, 'linked.sfc'))
  await symlink('../../shared/Set', join(library, FOLDER, 'LinkedSet'))
  await symlink('../../../shared/Set', join(library, FOLDER, 'Game/dlc'))
  const { entries, problems } = await list(library)
  t.same(paths(entries), [
    'roms/snes/Game/own.bin', 'roms/snes/Game/dlc/x.bin', 'roms/snes/LinkedSet/x.bin', 'roms/snes/linked.sfc'
  ])
  t.equal(entries[2]?.files[0]?.absolute_path, join(library, 'shared/one.sfc'))
  t.equal(entries[2]?.files[0]?.file_size_bytes, 1)
  t.equal(entries[0]?.files[1]?.category, 'dlc')
  t.same(problems, [])
})

t.test('links out of the library, to nothing or in circles are reported and skipped', async (t) => {
  const dir = t.testdir({ secret: 'key', library: { roms: { snes: { 'a.sfc': '', Game: { 'x.bin': '', sub: {} } } } } })
  const library = join(dir, 'library')
  const snes = join(library, FOLDER)
  await symlink('../../../secret', join(snes, 'secret.sfc'))
  await symlink('/', join(snes, 'Game/root'))
  await symlink('nothing', join(snes, 'dangling'))
  await symlink('self', join(snes, 'self'))
  await symlink('..', join(snes, 'Game/sub/up'))
  await symlink('../../..', join(snes, 'Game/sub/library'))
  const { entries, problems } = await list(library)
  t.same(paths(entries), ['roms/snes/Game/x.bin', 'roms/snes/a.sfc'])
  const back = 'the symbolic link leads back to a folder above itself'
  t.same(reasons(problems), {
    'roms/snes/secret.sfc': 'the symbolic link leads out of the library',
    'roms/snes/Game/root': 'the symbolic link leads out of the library',
    'roms/snes/dangling': 'the symbolic link leads to nothing',
    'roms/snes/self': 'its symbolic links form a circle',
    'roms/snes/Game/sub/up': back,
    'roms/snes/Game/sub/library': back
  })
})

t.test('an excluded link is not followed and causes no problem', async (t) => {
  const dir = t.testdir({ media: {}, library: { roms: { snes: { Game: { 'x.bin': '' } } } } })
  await symlink(join(dir, 'media'), join(dir, 'library', FOLDER, 'Covers'))
  await symlink(join(dir, 'media'), join(dir, 'library', FOLDER, 'Game/@eaDir'))
  const { entries, problems } = await list(join(dir, 'library'))
  t.same(names(entries), ['Game'])
  t.same(problems, [])
})

t.test('folders that link to each other are listed once each', async (t) => {
  const library = t.testdir({ pool: { a: { 'a.bin': '' }, b: { 'b.bin': '' } }, roms: { snes: {} } })
  await symlink('../b', join(library, 'pool/a/b1'))
  await symlink('../b', join(library, 'pool/a/b2'))
  await symlink('../a', join(library, 'pool/b/a'))
  await symlink('../../pool/a', join(library, FOLDER, 'Game'))
  const { entries, problems } = await list(library)
  t.same(paths(entries), ['roms/snes/Game/a.bin', 'roms/snes/Game/b1/b.bin'])
  t.same(new Set(Object.values(reasons(problems))), new Set(['the symbolic link leads to a folder that is already listed']))
})

t.test('a platform folder may link to another disk, but its own links may not leave it', async (t) => {
  const dir = t.testdir({ secret: '', disk: { snes: { 'a.sfc': '' } }, other: { 'b.sfc': '' }, library: { roms: {} } })
  const library = join(dir, 'library')
  await symlink('../../disk/snes', join(library, FOLDER))
  await symlink('a.sfc', join(dir, 'disk/snes/inside.sfc'))
  await symlink('../../secret', join(dir, 'disk/snes/outside.sfc'))
  await symlink('../../other/b.sfc', join(dir, 'disk/snes/other.sfc'))
  t.same(names((await list(library)).entries), ['a.sfc', 'inside.sfc'])
  t.same(names((await list(library, { otherRoots: [join(dir, 'other')] })).entries), ['a.sfc', 'inside.sfc', 'other.sfc'])
})

t.test('a platform folder that links to the library or above it is refused', async (t) => {
  const library = t.testdir({ roms: {} })
  await symlink('../..', join(library, FOLDER))
  await t.rejects(list(library), { name: 'LibraryUnreadableError', message: /a link to the library itself.*Change the link/ })
})

t.test('folders are read up to 32 levels deep', async (t) => {
  const library = t.testdir({ roms: { snes: {} } })
  const deep = Array.from({ length: 33 }, (_, i) => `d${i}`)
  await mkdir(join(library, FOLDER, 'Game', ...deep), { recursive: true })
  await writeFile(join(library, FOLDER, 'Game', ...deep.slice(0, 32), 'last.bin'), '')
  await writeFile(join(library, FOLDER, 'Game', ...deep, 'lost.bin'), '')
  const { entries, problems } = await list(library)
  t.same(entries[0]?.files.map((file) => file.file_name), ['last.bin'])
  t.match(problems, [{ fs_name: 'Game', reason: /^more than 32 folders deep/ }])
})

t.test('an unreadable folder is a problem and does not stop the others', async (t) => {
  const library = await makeReachableFolder(t, {
    roms: { snes: { 'a.sfc': '', Closed: { 'x.bin': '' }, Game: { 'y.bin': '', shut: { z: '' } } } }
  })
  await asOtherUser(t, join(library, FOLDER, 'Closed'), async () => {
    const { entries, problems } = await list(library)
    t.same(names(entries), ['Game', 'a.sfc'])
    t.same(problems, [{ fs_name: 'Closed', path: 'roms/snes/Closed', reason: "no permission to read it; give the server's user that permission" }])
  })
  await asOtherUser(t, join(library, FOLDER, 'Game/shut'), async () => {
    const { entries } = await list(library)
    t.same(entries[1]?.problems.map((problem) => problem.path), ['roms/snes/Game/shut'])
  })
})

t.test('a missing or unreadable platform folder is an error with a remedy', async (t) => {
  const library = await makeReachableFolder(t, { roms: { file: '', closed: {} } })
  await t.rejects(list(library), { name: 'LibraryUnreadableError', path: join(library, FOLDER), message: /does not exist/ })
  await t.rejects(list(library, { folder: 'roms/file' }), { name: 'LibraryUnreadableError', message: /not a folder/ })
  await t.rejects(list(library, { folder: 'roms/../..' }), PathRefusedError)
  await asOtherUser(t, join(library, 'roms/closed'), async () => {
    await t.rejects(list(library, { folder: 'roms/closed' }), {
      name: 'LibraryUnreadableError', message: /no permission.*Give the server's user permission/
    })
  })
})

t.test('sockets and named pipes are ignored', { skip: process.platform === 'win32' }, async (t) => {
  const library = t.testdir({ roms: { snes: { 'a.sfc': '', Game: { 'x.bin': '' } } } })
  await promisify(execFile)('mkfifo', [join(library, FOLDER, 'pipe'), join(library, FOLDER, 'Game/pipe')])
  await symlink('pipe', join(library, FOLDER, 'to-pipe'))
  const server = createServer()
  const directory = process.cwd()
  process.chdir(join(library, FOLDER))
  await new Promise<void>((resolve) => server.listen('socket', resolve))
  process.chdir(directory)
  const { entries, problems } = await list(library)
  await new Promise((resolve) => server.close(resolve))
  t.same(paths(entries), ['roms/snes/Game/x.bin', 'roms/snes/a.sfc'])
  t.same(problems, [])
})

t.test('an aborted signal ends the listing with its reason', async (t) => {
  const library = t.testdir({ roms: { snes: { 'a.sfc': '', 'b.sfc': '' } } })
  await t.rejects(list(library, { signal: AbortSignal.abort(new Error('stopped')) }), { message: 'stopped' })
  const abort = new AbortController()
  const { entries } = listEntries({
    libraryDir: library, folder: FOLDER, rules: exclusionRules(), signal: abort.signal
  })
  t.match(await entries.next(), { done: false, value: { fs_name: 'a.sfc' } })
  abort.abort(new Error('enough'))
  await t.rejects(entries.next(), { message: 'enough' })
})

t.test('hundreds of small files and folders are listed completely and in order', async (t) => {
  const library = t.testdir({ roms: {} })
  await generatePlatform(join(library, FOLDER), { files: 300, folders: 100, filesPerFolder: 3 })
  const { entries, problems } = await list(library)
  t.equal(entries.length, 400)
  t.equal(paths(entries).length, 600)
  const sorted = names(entries).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  t.same(names(entries), sorted)
  t.same(problems, [])
})
