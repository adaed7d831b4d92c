import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { type OpenWatch, openWatch } from '../../../plugins/watcher/open-watch.ts'
import { type LibraryWatchOptions, watchLibrary } from '../../../plugins/watcher/library-watch.ts'
import { exclusionRules } from '../library/generate-library.ts'
import { asOtherUser, makeReachableFolder } from '../library/other-user.ts'
import { until } from '../../until.ts'

const SETTINGS = { roms_folder: 'roms', firmware_folder: 'bios', structure: {} }
const rules = exclusionRules({ platforms: ['old-*'] })

/** Watches a library and collects its reports in `told`. */
async function watch (t: Test, libraryDir: string, options: Partial<LibraryWatchOptions> = {}) {
  const changed = new Set<string | null>()
  const written = new Set<string>()
  const logged: string[] = []
  const log = (...args: unknown[]) => { logged.push(String(args.at(-1))) }
  const library = watchLibrary({
    libraryDir, readSettings: () => SETTINGS, readRules: () => rules, scannedAt: 0, listKnown: async () => [],
    log: { info: log, warn: log, error: log },
    onChange: (fsSlug) => { changed.add(fsSlug) }, onWrite: (fsSlug) => { written.add(fsSlug) }, ...options
  })
  t.teardown(() => library.close())
  await library.idle()
  let probes = 0

  return {
    changed,
    written,
    logged,
    library,
    /** Runs work and waits for its reports: a later event in `probe` comes after all earlier ones. */
    async after (work: () => Promise<unknown>, probe = 'roms/zx'): Promise<(string | null)[]> {
      changed.clear()
      written.clear()
      await work()
      const slug = probe.split('/').at(-1) ?? ''
      await writeFile(join(libraryDir, probe, `probe${++probes}`), '')
      await until(() => changed.has(slug), 'the probe')
      await library.idle()
      changed.delete(slug)
      return [...changed].sort()
    }
  }
}

const LIBRARY = {
  roms: { zx: {}, snes: { 'A.sfc': 'a' }, psx: { Game: { 'disc1.bin': '1', extras: { 'map.txt': '' } } }, 'old-nes': {} },
  bios: { psx: {} }
}

/** Returns the number of inotify watches of this process; null on other systems. */
function countWatches (): number | null {
  if (process.platform !== 'linux') return null
  return readdirSync('/proc/self/fdinfo').map((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('\n').filter((line) => line.startsWith('inotify ')).length
    } catch {
      return 0
    }
  }).reduce((sum, count) => sum + count, 0)
}

t.test('a file or folder that appears or vanishes is reported with its platform', async (t) => {
  const dir = t.testdir(LIBRARY)
  const at = (path: string) => join(dir, path)
  const { after, written } = await watch(t, dir)
  t.same(await after(() => writeFile(at('roms/snes/B.sfc'), 'b')), ['snes'])
  t.same(await after(() => rename(at('roms/snes/B.sfc'), at('roms/snes/C.sfc'))), ['snes'])
  t.same(await after(() => rm(at('roms/snes/A.sfc'))), ['snes'])
  t.same(await after(() => writeFile(at('roms/psx/Game/extras/new.txt'), '')), ['psx'])
  t.same(await after(() => mkdir(at('roms/psx/New/CD/Track'), { recursive: true })), ['psx'])
  t.same(await after(() => writeFile(at('roms/psx/New/CD/Track/1.bin'), '')), ['psx'], 'in folders that came later')
  t.same(await after(() => rename(at('roms/psx/New'), at('roms/snes/Moved'))), ['psx', 'snes'])
  t.same(await after(() => writeFile(at('roms/snes/Moved/CD/x.bin'), '')), ['snes'], 'in folders that were moved')
  t.same(await after(() => writeFile(at('bios/psx/scph.bin'), '')), ['psx'], 'firmware')
  t.same(await after(() => rm(at('roms/psx/Game'), { recursive: true })), ['psx'])
  t.same(await after(() => appendFile(at('roms/snes/C.sfc'), 'more')), [], 'what is written to is told otherwise')
  t.ok(written.has('snes'))
})

t.test('a new watch reports platforms that changed since the last scan', async (t) => {
  const libraryDir = t.testdir(LIBRARY)
  const [scannedAt, former] = [new Date('2026-01-02T00:00:00Z'), new Date('2026-01-01T00:00:00Z')]
  for (const folder of ['roms/zx', 'roms/snes', 'roms/psx', 'roms/old-nes', 'bios/psx']) await utimes(join(libraryDir, folder), former, former)
  const startOf = async (time: Date) => [...(await watch(t, libraryDir, { scannedAt: time.getTime() })).changed].sort()
  t.same(await startOf(scannedAt), [])
  await writeFile(join(libraryDir, 'roms/snes/B.sfc'), 'b')
  await rm(join(libraryDir, 'roms/old-nes'), { recursive: true })
  await writeFile(join(libraryDir, 'bios/psx/bios.bin'), 'bios')
  t.same(await startOf(scannedAt), ['psx', 'snes'])
  t.same(await startOf(new Date(Date.now() + 60_000)), [])
  t.same(await startOf(new Date(0)), [], 'a library that was never scanned waits for its first scan')
})

t.test('a new watch reports platforms whose folder vanished since the last scan', async (t) => {
  const libraryDir = t.testdir(LIBRARY)
  const [scannedAt, former] = [new Date('2026-01-02T00:00:00Z'), new Date('2026-01-01T00:00:00Z')]
  for (const folder of ['roms/zx', 'roms/snes', 'roms/psx', 'bios/psx']) await utimes(join(libraryDir, folder), former, former)
  const listKnown = async () => ['zx', 'snes', 'psx', 'gb']
  t.same([...(await watch(t, libraryDir, { scannedAt: scannedAt.getTime(), listKnown })).changed], ['gb'])
  await rename(join(libraryDir, 'roms'), join(libraryDir, 'away'))
  t.same([...(await watch(t, libraryDir, { scannedAt: scannedAt.getTime(), listKnown })).changed], [], 'a library that is away')
})

t.test('a folder that is deleted and created again is watched again', async (t) => {
  const dir = t.testdir(LIBRARY)
  const { after } = await watch(t, dir)
  const game = join(dir, 'roms/psx/Game')
  for (const folder of [game, join(dir, 'roms/psx'), join(dir, 'roms')]) {
    await after(async () => {
      await rm(folder, { recursive: true })
      await mkdir(game, { recursive: true })
      await mkdir(join(dir, 'roms/zx'), { recursive: true })
    })
    t.same(await after(() => writeFile(join(game, 'disc.bin'), '')), ['psx'], folder)
  }
})

t.test('a platform folder that appears, vanishes or is renamed is reported by name', async (t) => {
  const dir = t.testdir(LIBRARY)
  const { after } = await watch(t, dir)
  t.same(await after(() => mkdir(join(dir, 'roms/gb'))), ['gb'])
  t.same(await after(() => writeFile(join(dir, 'roms/gb/A.gb'), '')), ['gb'])
  t.same(await after(() => rename(join(dir, 'roms/gb'), join(dir, 'roms/gbc'))), ['gb', 'gbc'])
  t.same(await after(() => rm(join(dir, 'roms/gbc'), { recursive: true })), ['gbc'])
  t.same(await after(() => writeFile(join(dir, 'roms/readme.txt'), '')), [], 'a file is no platform')
  t.same(await after(() => mkdir(join(dir, 'roms/old-gb'))), [], 'nor is an excluded folder')
  t.same(await after(() => mkdir(join(dir, 'bios/snes'))), ['snes'], 'a firmware folder belongs to its platform')
  t.same(await after(() => writeFile(join(dir, 'bios/snes/dsp.rom'), '')), ['snes'])
})

t.test('a library of structure B is watched as well', async (t) => {
  const dir = t.testdir({ zx: { roms: {} }, snes: { roms: {}, bios: {} }, notes: {} })
  const { changed, library } = await watch(t, dir)
  const expect = async (slug: string, work: () => Promise<unknown>) => {
    changed.clear()
    await work()
    await until(() => changed.has(slug), slug)
    await library.idle()
    t.same([...changed], [slug])
  }
  await expect('snes', () => writeFile(join(dir, 'snes/roms/A.sfc'), ''))
  await expect('snes', () => writeFile(join(dir, 'snes/bios/dsp.rom'), ''))
  await expect('zx', () => mkdir(join(dir, 'zx/bios')))
  await expect('zx', () => writeFile(join(dir, 'zx/bios/48.rom'), ''))
  await expect('gb', () => mkdir(join(dir, 'gb/roms'), { recursive: true }))
  await expect('gb', () => writeFile(join(dir, 'gb/roms/A.gb'), ''))
  await mkdir(join(dir, 'gbc'))
  await library.idle()
  await expect('gbc', () => mkdir(join(dir, 'gbc/roms')))
  await expect('notes', () => mkdir(join(dir, 'notes/roms')))
})

t.test('excluded and temporary files are not reported', async (t) => {
  const dir = t.testdir({ ...LIBRARY, roms: { ...LIBRARY.roms, snes: { covers: { 'a.png': '' }, 'gamelist.xml': '' } } })
  const { after, written, library } = await watch(t, dir)
  const quiet = ['gamelist.xml', 'gamelist.xml.bak', 'metadata.pegasus.txt', `.${crypto.randomUUID()}.tmp`, 'covers/b.png',
    'screenshots/a.png', 'videos/a.mp4', 'A.sfc.part', '.DS_Store', '@eaDir/x', 'A.sfc:Zone.Identifier', 'x.log']
  const told = await after(async () => {
    for (const name of quiet) {
      const path = join(dir, 'roms/snes', name)
      await mkdir(join(path, '..'), { recursive: true })
      await writeFile(path, 'text')
      await appendFile(path, 'more')
    }
    await mkdir(join(dir, 'roms/old-nes/Game'))
    await writeFile(join(dir, 'roms/psx/Game/x.tmp'), '')
    await mkdir(join(dir, 'bios/psx/folder'))
  })
  t.same(told, [])
  t.notOk(written.has('snes'))
  t.same(await after(async () => {
    for (const name of quiet) await rm(join(dir, 'roms/snes', name))
    for (const name of ['covers', 'screenshots', 'videos', '@eaDir']) await rm(join(dir, 'roms/snes', name), { recursive: true })
  }), [], 'nor that it is gone')
  t.same(await after(() => rename(join(dir, 'roms/psx/Game/x.tmp'), join(dir, 'roms/psx/Game/x.bin'))), ['psx'], 'a finished one is')
  t.ok(library.hasPlatforms())
})

t.test('links are followed as in scans, and never in a loop', async (t) => {
  const dir = t.testdir({ library: LIBRARY, outside: { n64: { Game: {} }, other: {} } })
  const at = (path: string) => join(dir, 'library', path)
  await symlink(join(dir, 'outside/n64'), at('roms/n64'))
  await symlink(join(dir, 'outside/other'), at('roms/snes/Other'))
  await symlink(at('roms/psx/Game'), at('roms/snes/Disc'))
  await symlink(at('roms/psx'), at('roms/psx/Game/up'))
  await symlink('extras', at('roms/psx/Game/same'))
  const { after } = await watch(t, join(dir, 'library'))
  t.same(await after(() => writeFile(join(dir, 'outside/n64/Game/a.z64'), '')), ['n64'], 'the link is the platform')
  t.same(await after(() => writeFile(join(dir, 'outside/other/a.sfc'), '')), [], 'it leads out of the library')
  t.same(await after(() => writeFile(at('roms/psx/Game/disc2.bin'), '')), ['psx', 'snes'], 'both hold the folder')
  t.same(await after(() => writeFile(at('roms/psx/Game/extras/b.txt'), '')), ['psx', 'snes'])
  t.same(await after(() => rm(at('roms/snes/Disc'))), ['snes'])
  t.same(await after(() => writeFile(at('roms/psx/Game/disc3.bin'), '')), ['psx'])
  t.same(await after(() => symlink('Game', at('roms/psx/Link'))), ['psx'])
})

t.test('a missing library is waited for, and anything may have changed when it is back', async (t) => {
  const dir = t.testdir({})
  const library = join(dir, 'library')
  const { changed, logged, library: watched } = await watch(t, library, { checkMs: 20 })
  t.equal(watched.hasPlatforms(), false)
  t.match(logged, [/^Cannot read the library folder .* it does not exist.* checks again every minute$/])
  await mkdir(library)
  await mkdir(join(library, 'roms/snes'), { recursive: true })
  await until(() => changed.has(null), 'it is found')
  t.equal(watched.hasPlatforms(), true)
  changed.clear()
  await rename(library, join(dir, 'away'))
  await until(() => !watched.hasPlatforms(), 'it is missed')
  changed.clear()
  await rename(join(dir, 'away'), library)
  await until(() => changed.has(null), 'it is back')
  await writeFile(join(library, 'roms/snes/A.sfc'), '')
  await until(() => changed.has('snes'), 'it is watched')
  t.ok(logged.filter((line) => /checks again/.test(line)).length <= 3, 'said once each time')
})

t.test('a library without platform folders does not count as present', async (t) => {
  const dir = t.testdir({ roms: {} })
  const { changed, logged, library } = await watch(t, dir)
  t.match(logged, [/has no platform folders/])
  await mkdir(join(dir, 'roms/snes'))
  await until(() => changed.has(null), 'a platform appears')
  await rm(join(dir, 'roms/snes'), { recursive: true })
  await until(() => !library.hasPlatforms(), 'the last one is gone')
})

t.test('a replaced platform folder is found without an event, as when a disk is mounted', async (t) => {
  const dir = t.testdir({ one: {}, two: {}, library: { roms: { snes: {}, zx: {} } } })
  const link = join(dir, 'library/roms/psx')
  await symlink(join(dir, 'one'), link)
  const deaf: OpenWatch = (path, onEvent, onError) =>
    path.endsWith('/roms') ? { close () {} } : openWatch(path, onEvent, onError)
  const { changed } = await watch(t, join(dir, 'library'), { checkMs: 20, open: deaf })
  await symlink(join(dir, 'two'), `${link}.new`)
  await rename(`${link}.new`, link)
  await until(() => changed.has('psx'), 'the other folder is seen')
  changed.clear()
  await writeFile(join(dir, 'two/a.bin'), '')
  await until(() => changed.has('psx'), 'and watched')
})

t.test('at the limit of watches the others stay, one warning is logged, and it retries', async (t) => {
  const dir = t.testdir(LIBRARY)
  let isFull = true
  const full: OpenWatch = (path, onEvent, onError) => {
    if (isFull && path.includes('Game')) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    return openWatch(path, onEvent, onError)
  }
  const { after, changed, logged } = await watch(t, dir, { open: full, checkMs: 20 })
  t.match(logged.filter((line) => /not watched/.test(line)), [/allows no more watches \(fs\.inotify\.max_user_watches is .*\)\. Raise/])
  t.same(await after(() => writeFile(join(dir, 'roms/psx/B.bin'), '')), ['psx'])
  t.same(await after(() => writeFile(join(dir, 'roms/psx/Game/x.bin'), '')), [])
  changed.clear()
  isFull = false
  await until(() => logged.includes('all folders of the library are watched again'), 'it is tried again')
  t.same([...changed], ['psx'], 'what happened there meanwhile nobody knows')
  t.same(await after(() => writeFile(join(dir, 'roms/psx/Game/extras/y.txt'), '')), ['psx'])
  t.equal(logged.filter((line) => /not watched/.test(line)).length, 1)
})

t.test('other refused watches name their remedy', async (t) => {
  const dir = t.testdir(LIBRARY)
  for (const [code, remedy] of [['EMFILE', /max_user_instances/], ['EACCES', /permission to read and enter/], ['EIO', /broken/]] as const) {
    const { logged } = await watch(t, dir, { open: () => { throw Object.assign(new Error('broken'), { code }) } })
    t.match(logged.find((line) => /not watched/.test(line)), remedy)
  }
})

t.test('a watch that fails later is opened again', async (t) => {
  const dir = t.testdir(LIBRARY)
  const failures: ((err: unknown) => void)[] = []
  const { after, changed } = await watch(t, dir, {
    checkMs: 20,
    open (path, onEvent, onError) {
      failures.push(onError)
      return openWatch(path, onEvent, onError)
    }
  })
  for (const fail of failures.splice(0)) fail(new Error('the share is gone'))
  await until(() => changed.has('psx') && changed.has('snes'), 'they are opened again')
  t.same(await after(() => writeFile(join(dir, 'roms/psx/Game/x.bin'), '')), ['psx'])
})

const isLinux = process.platform === 'linux'

t.test('files use no watches, and a closed watch leaves none behind', { skip: !isLinux }, async (t) => {
  const before = countWatches()
  const dir = t.testdir({
    roms: {
      snes: Object.fromEntries(Array.from({ length: 500 }, (_none, index) => [`${index}.sfc`, ''])),
      psx: { Game: { a: {} } }
    }
  })
  const { library } = await watch(t, dir)
  t.equal(countWatches(), (before ?? 0) + 6, 'library, roms, two platforms, a game and a folder in it')
  await library.close()
  t.equal(countWatches(), before)
  const log = { info () {}, warn () {}, error () {} }
  const closing = watchLibrary({
    libraryDir: dir, readSettings: () => SETTINGS, readRules: () => rules, scannedAt: 0, listKnown: async () => [], log,
    onChange () {}, onWrite () {}
  })
  await closing.close()
  t.equal(countWatches(), before, 'also when it is closed while it opens')
})

t.test('the watches of a newly excluded platform end at the next check', async (t) => {
  const dir = t.testdir({ roms: { snes: { 'a.sfc': '' }, psx: { 'b.bin': '' } } })
  let now = rules
  const { changed, library } = await watch(t, dir, { readRules: () => now, checkMs: 5 })
  now = exclusionRules({ platforms: ['psx'] })
  await until(() => changed.has('psx'), 'the look')
  changed.clear()
  await writeFile(join(dir, 'roms/psx/c.bin'), '')
  await writeFile(join(dir, 'roms/snes/c.sfc'), '')
  await until(() => changed.has('snes'), 'the other platform')
  await library.idle()
  t.same([...changed], ['snes'])
})

t.test('after any sequence of changes exactly the folders on disk are watched', async (t) => {
  const dir = t.testdir(LIBRARY)
  const { after } = await watch(t, dir)
  const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
  const step = fc.oneof(
    fc.record({ kind: fc.constant('make' as const), path }), fc.record({ kind: fc.constant('remove' as const), path }),
    fc.record({ kind: fc.constant('move' as const), path, to: path }))
  const root = join(dir, 'roms/snes')
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (work) => {
    await after(async () => {
      for (const one of work) {
        const target = join(root, one.path)
        if (one.kind === 'make') await mkdir(target, { recursive: true })
        else if (one.kind === 'remove') await rm(target, { recursive: true, force: true })
        // Renames into the folder itself or onto an existing name fail.
        else await rename(target, join(root, one.to)).catch(() => {})
      }
    })
    const folders = readdirSync(root, { recursive: true, withFileTypes: true }).filter((item) => item.isDirectory())
    for (const { parentPath, name } of folders) {
      const file = join(parentPath, name, 'x.bin')
      t.same(await after(() => writeFile(file, '')), ['snes'], file)
      await after(() => rm(file))
    }
  }), { numRuns: 8 })
})

t.test('an unreadable folder does not affect the others', async (t) => {
  const dir = await makeReachableFolder(t, LIBRARY)
  await asOtherUser(t, join(dir, 'roms/psx/Game'), async () => {
    const { logged, library } = await watch(t, dir)
    t.match(logged.find((line) => /not watched/.test(line)), /permission to read and enter/)
    t.ok(library.hasPlatforms())
  })
})
