import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LibraryUnreadableError } from '../../../plugins/library/directory.ts'
import { PathRefusedError } from '../../../core/files/safe-path.ts'
import {
  type FilesystemSettings, type Structure, detectStructure, firmwarePath, listPlatformFolders, platformRoot, romsPath
} from '../../../plugins/library/structure.ts'
import { exclusionRules } from './generate-library.ts'
import { asOtherUser, makeReachableFolder } from './other-user.ts'

const rules = exclusionRules({ platforms: ['old-*'] })
const SETTINGS: FilesystemSettings = { roms_folder: 'roms', firmware_folder: 'bios', structure: {} }
const A: Structure = { kind: 'A', romsFolder: 'roms', firmwareKind: 'A', firmwareFolder: 'bios' }
const B: Structure = { kind: 'B', romsFolder: 'roms', firmwareKind: 'B', firmwareFolder: 'bios' }

t.test('a roms folder at the top means structure A, whatever else exists', async (t) => {
  const library = t.testdir({ roms: { snes: {}, nes: {} }, gb: { roms: {} } })
  const structure = await detectStructure(library, SETTINGS, rules)
  t.same(structure, A)
  t.same(await listPlatformFolders(library, A, rules), { platforms: ['nes', 'snes'], problems: [] })
  t.equal(romsPath(A, 'snes'), 'roms/snes')
  t.equal(firmwarePath(A, 'snes'), 'bios/snes')
})

t.test('a folder with a roms folder inside means structure B', async (t) => {
  const library = t.testdir({ snes: { roms: {} }, docs: {}, 'old-nes': { roms: {} }, 'a.txt': '' })
  t.same(await detectStructure(library, SETTINGS, rules), B)
  t.same(await listPlatformFolders(library, B, rules), { platforms: ['snes'], problems: [] })
  t.equal(romsPath(B, 'snes'), 'snes/roms')
  t.equal(firmwarePath(B, 'snes'), 'snes/bios')
})

t.test('a library without a ROM folder has no structure', async (t) => {
  t.equal(await detectStructure(t.testdir({ snes: {}, roms: 'a file' }), SETTINGS, rules), null)
  t.equal(await detectStructure(t.testdir({ 'old-nes': { roms: {} } }), SETTINGS, rules), null, 'excluded folders do not count')
})

t.test('other folder names are used when configured', async (t) => {
  const library = t.testdir({ games: { snes: {} }, roms: {} })
  t.same(await detectStructure(library, { ...SETTINGS, roms_folder: 'games', firmware_folder: 'fw' }, rules),
    { kind: 'A', romsFolder: 'games', firmwareKind: 'A', firmwareFolder: 'fw' })
})

t.test('a configured structure skips detection, and firmware may have another one', async (t) => {
  const library = t.testdir({ roms: {} })
  const structure = await detectStructure(library, {
    roms_folder: 'games',
    firmware_folder: 'fw',
    structure: { default: '{platform}/roms/{game}', firmware: 'bios/{platform}' }
  }, rules)
  t.same(structure, { kind: 'B', romsFolder: 'roms', firmwareKind: 'A', firmwareFolder: 'bios' })
  t.equal(structure && firmwarePath(structure, 'snes'), 'bios/snes')
})

t.test('a link to a folder is a platform, and a link to a file or nothing is not', async (t) => {
  const library = t.testdir({ elsewhere: { snes: {} }, roms: { nes: {}, 'a.zip': '' } })
  await symlink('../elsewhere/snes', join(library, 'roms/snes'))
  await symlink('../nowhere', join(library, 'roms/gone'))
  await symlink('a.zip', join(library, 'roms/zip'))
  t.same(await listPlatformFolders(library, A, rules), { platforms: ['nes', 'snes'], problems: [] })
  t.equal(await platformRoot(library, A, 'snes'), join(library, 'elsewhere/snes'))
})

t.test("a platform's root is refused for a name that leaves the library", async (t) => {
  const library = t.testdir({ roms: {} })
  await t.rejects(platformRoot(library, A, '../..'), PathRefusedError)
  await t.rejects(platformRoot(library, A, 'snes'), LibraryUnreadableError)
})

t.test('a platform whose name is not valid UTF-8 is a problem', { skip: process.platform !== 'linux' }, async (t) => {
  const library = t.testdir({ roms: { snes: {} } })
  const name = Buffer.concat([Buffer.from(join(library, 'roms/')), Buffer.from([0x6e, 0xff])])
  await mkdir(name)
  const listed = await listPlatformFolders(library, A, rules)
  await rm(name, { recursive: true })
  t.same(listed, {
    platforms: ['snes'],
    problems: [{ path: 'roms/n\\xff', reason: 'the name is not valid UTF-8; rename it' }]
  })
})

t.test('a platform whose name would lead out of its folder is a problem', { skip: process.platform === 'win32' }, async (t) => {
  const library = t.testdir({ roms: { 'a\\..': {}, snes: {} } })
  t.same(await listPlatformFolders(library, A, rules), {
    platforms: ['snes'],
    problems: [{ path: 'roms/a\\..', reason: 'it leaves its folder through ".."; rename it' }]
  })
})

t.test('a missing library is an error with a remedy', async (t) => {
  const library = join(t.testdir({}), 'gone')
  await t.rejects(detectStructure(library, SETTINGS, rules), {
    name: 'LibraryUnreadableError', path: library, message: /gone".*does not exist\. Create the folder.*SVC_LIBRARY_DIR/
  })
})

t.test('one unreadable folder does not hide the other platforms', async (t) => {
  const library = await makeReachableFolder(t, { snes: { roms: {} }, 'lost+found': { roms: {} } })
  await asOtherUser(t, join(library, 'lost+found'), async () => {
    t.same(await detectStructure(library, SETTINGS, rules), B)
    t.same(await listPlatformFolders(library, B, rules), {
      platforms: ['snes'], problems: [{ path: 'lost+found/roms', reason: "no permission to read it; give the server's user that permission" }]
    })
  })
})
