import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import t from 'tap'
import { isBurst } from '../../../plugins/webdav/sync/bursts.ts'
import { emulatorOf, platformsOf } from '../../../plugins/webdav/sync/core-folders.ts'
import { chooseEntry } from '../../../plugins/webdav/sync/list-entry.ts'
import { type RomCandidate, matchRoms } from '../../../plugins/webdav/sync/match-rom.ts'
import { foldPath, readGameFile, readKey } from '../../../plugins/webdav/sync/read-key.ts'
import { renderMultistatus, toHref } from '../../../plugins/webdav/tree/multistatus.ts'
import { anyString } from '../../any-string.ts'
import { decideAction } from './retroarch.ts'

const game = (path: string) => readGameFile(readKey(path))

t.test('a path names the kind and the content of a file', async (t) => {
  const cases: [path: string, kind: string, ...stems: string[]][] = [
    ['saves/Snes9x/Game (USA).srm', 'save', 'Game (USA)'],
    ['saves/Game.1.mcr', 'save', 'Game.1', 'Game'],
    ['saves/x/Game.pure.zip', 'save', 'Game.pure', 'Game'],
    ['saves/x/.hidden', 'save', '.hidden'],
    ['states/x/Game v1.2.state', 'state', 'Game v1.2'],
    ['states/x/Game.state12', 'state', 'Game'],
    ['states/x/Game.state.auto', 'state', 'Game'],
    ['states/x/Game.state.auto.png', 'screenshot', 'Game'],
    ['states/x/Game.state3.png', 'screenshot', 'Game'],
    ['states/x/Game.replay2', 'state', 'Game'],
    ['states/x/Game.png', 'state', 'Game']
  ]
  for (const [path, kind, ...stems] of cases) t.same(game(path), { kind, stems }, path)
  t.equal(game('config/Snes9x/Game.cfg'), null)
})

t.test('a path that is accepted has no part that leaves its folder', async () => {
  const part = fc.oneof(anyString, fc.constantFrom('..', '.', '', 'saves', 'Game.srm', 'a/b'))
  fc.assert(fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
    const path = ['saves', ...parts].join('/')
    try {
      const key = readKey(path)
      return key.path === path && !path.split('/').some((one) => ['..', '.', ''].includes(one)) && !path.includes('\0') &&
        foldPath(key.folded) === key.folded && key.path.length === key.folded.length
    } catch (err) {
      return err instanceof Error && err.message.endsWith('rename the file on the device')
    }
  }))
})

const rom = (id: number, slug: string, ...stems: string[]): RomCandidate =>
  ({ rom_id: id, rom_name: `ROM ${id}`, slug, fs_slug: slug, stems })
const idsOf = (stems: string[], folders: string[], candidates: RomCandidate[]) =>
  matchRoms(stems, folders, candidates).map(({ rom_id: id }) => id)

t.test('folders of cores and platforms narrow the games of a name', async (t) => {
  const roms = [rom(1, 'snes', 'Game'), rom(2, 'gb', 'Game'), rom(3, 'my-own', 'Game'), rom(4, 'gba', 'game')]
  t.same(idsOf(['Game'], ['Snes9x'], roms), [1])
  t.same(idsOf(['Game'], ['mGBA'], roms), [2], 'the exact case counts first')
  t.same(idsOf(['Game'], ['gb'], roms), [2], 'a single folder may be that of the content')
  t.same(idsOf(['Game'], ['gb', 'Unknown core'], roms), [2])
  t.same(idsOf(['Game'], ['PPSSPP'], roms), [3], 'a platform without known cores may have any')
  t.same(idsOf(['Game'], [], roms), [1, 2, 3])
  t.same(idsOf(['GAME'], ['mGBA'], roms), [2, 4])
  t.same(idsOf(['Game.1', 'Game'], ['Snes9x'], roms), [1])
  t.same(idsOf(['Cafe\u0301'], ['Snes9x'], [rom(1, 'snes', 'Caf\u00e9')]), [1], 'NFD and NFC are one name')
  t.same(idsOf(['Other'], ['Snes9x'], roms), [])
})

t.test('names of cores are compared without case, spaces and hyphens', async (t) => {
  t.ok(platformsOf('beetle psx-hw')?.has('psx'))
  t.equal(platformsOf('Nothing'), null)
  t.equal(emulatorOf('Beetle PSX HW'), 'beetle_psx_hw')
})

t.test('content that a device never takes is left out of its list once', async (t) => {
  let device = { listed: null as string | null, held: 'old', is_sent: true, misses: 0 }
  const listed: (string | null)[] = []
  for (let round = 0; round < 7; round++) {
    const entry = chooseEntry({ sha1: 'new', file_size_bytes: 1, is_deleted: false }, device)
    listed.push(entry.listed)
    device = { ...device, ...entry }
  }
  t.same(listed, ['new', 'new', null, 'new', 'new', null, 'new'])
  t.equal(chooseEntry({ sha1: 'new', file_size_bytes: 0, is_deleted: false }, device).listed, null, 'an empty file')
  t.equal(chooseEntry({ sha1: null, file_size_bytes: 0, is_deleted: true }, device).listed, '')
  t.equal(chooseEntry({ sha1: null, file_size_bytes: 0, is_deleted: true }, { ...device, held: null }).listed, null)
})

t.test('many deletions, or half of a few files, are a burst', async (t) => {
  const bursts = [[1, 1], [2, 3], [3, 5], [3, 7], [10, 100], [11, 100]].filter(([deletions = 0, files = 0]) =>
    isBurst(deletions, files))
  t.same(bursts, [[3, 5], [11, 100]])
})

t.test('an address has only unreserved characters', async (t) => {
  t.equal(toHref('/webdav', ["Don't (USA) *!~.sfc"], true), '/webdav/Don%27t%20%28USA%29%20%2A%21~.sfc/')
})

t.test('any name makes well-formed XML and an address that decodes to it', async () => {
  await fc.assert(fc.asyncProperty(anyString, async (name) => {
    const href = toHref('/webdav', [name], false)
    async function * resources () {
      yield { href, name, file: { size: 1, type: 'application/octet-stream', etag: '"x"' }, modified_at: 0 }
    }
    let text = ''
    for await (const piece of renderMultistatus(resources())) text += piece
    let shown = ''
    const parser = new SaxesParser()
    parser.on('error', (err) => { throw err })
    parser.on('text', (content) => { shown += content })
    parser.write(text).close()
    return shown.includes(href) && decodeURIComponent(href.slice('/webdav/'.length)) === name.toWellFormed()
  }))
})

t.test('the client that tests use decides as RetroArch does', async (t) => {
  const cases: [Parameters<typeof decideAction>, ReturnType<typeof decideAction>][] = [
    [['a', undefined, undefined], 'get'], [['', 'a', undefined], 'note'], [['a', 'b', 'a'], 'note'], [['a', undefined, 'b'], 'conflict'],
    [['', undefined, 'b'], 'conflict'], [[undefined, 'a', 'a'], 'put'], [['a', 'a', 'b'], 'put'], [['a', 'b', 'b'], 'get'],
    [['', 'b', 'b'], 'remove'], [['a', 'b', 'c'], 'conflict'], [['a', 'a', undefined], 'delete'], [['a', 'b', undefined], 'conflict'],
    [['a', '', undefined], 'get']
  ]
  for (const [[server, local, current], action] of cases) t.equal(decideAction(server, local, current), action)
})
