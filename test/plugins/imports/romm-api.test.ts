import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { FileAbsentError } from '../../../plugins/imports/contract.ts'
import { openRomm } from '../../../plugins/imports/romm/open.ts'
import { until } from '../../until.ts'
import { createContext, listAll, readFile } from './support.ts'

const TOKEN = `rmm_${'b'.repeat(64)}`
type Answers = Readonly<Record<string, unknown>>

/** Plays RomM: answers each path with JSON, a Buffer with its bytes, a number with that status, and 404 otherwise. */
async function playRomm (t: { teardown: (run: () => void) => void }, answers: Answers) {
  const requests: { path: string, authorization: string | undefined }[] = []
  const running = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://romm')
    running.add(response)
    response.once('close', () => { running.delete(response) })
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization })
    const offset = Number(url.searchParams.get('offset') ?? 0)
    const answer = answers[request.url ?? ''] ?? answers[url.pathname] ?? 404
    if (typeof answer === 'number') {
      response.writeHead(answer, answer === 302 ? { location: 'http://127.0.0.1:1/elsewhere' } : {}).end('{}')
    } else if (Buffer.isBuffer(answer)) response.end(answer)
    else {
      response.setHeader('content-type', 'application/json')
      const isPage = typeof answer === 'object' && answer !== null && 'items' in answer
      const items = isPage ? (answer.items as unknown[]).slice(offset, offset + 100) : []
      response.end(JSON.stringify(isPage ? { ...answer, items } : answer))
    }
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const { port } = server.address() as AddressInfo
  return { address: `http://127.0.0.1:${port}/romm`, requests, running }
}

const at = (paths: Answers): Answers => Object.fromEntries(Object.entries(paths).map(([path, answer]) => [`/romm${path}`, answer]))
const times = { created_at: '2026-03-01T10:00:00+00:00', updated_at: '2026-03-02T10:00:00.5+00:00' }
const ME = { id: 2, username: 'bob', role: 'user', enabled: true, email: '', avatar_path: 'users/x/profile/a.png', ...times }
const ROMS = Array.from({ length: 150 }, (_, index) => ({
  id: index + 1, platform_id: 3, fs_name: `game ${index}.sfc`, fs_path: 'roms/snes', name: `Game ${index}`, igdb_id: index,
  path_cover_large: index === 0 ? '/assets/romm/resources/roms/3/1/cover/big.png?ts=2026' : '', has_notes: index === 1,
  files: [{
    id: 1000 + index, rom_id: index + 1, file_name: `game ${index}.sfc`, file_path: 'roms/snes', file_size_bytes: 5,
    category: index === 149 ? 'soundtrack' : 'game'
  }],
  rom_user: index === 0
    ? { id: 9, rom_id: 1, user_id: 2, rating: 7, status: 'finished', is_main_sibling: false, ...times }
    : { id: -1, rom_id: -1, user_id: -1 }
}))
const SAVE = {
  id: 7, rom_id: 1, user_id: 2, file_name: 'a b.srm', file_path: 'users/x/saves/snes/1', file_size_bytes: 4, slot: 'main',
  content_hash: null, ...times, device_syncs: [],
  screenshot: { id: 8, rom_id: 1, user_id: 2, file_name: 'a b.png', file_path: 'users/x/screenshots/snes/1', ...times }
}
const UUID = '1f6f3c1e-7a55-4c3b-9d2e-0a1b2c3d4e5f'
const FULL = at({
  '/api/heartbeat': { SYSTEM: { VERSION: '5.2.0' } },
  '/api/users/me': ME,
  '/api/platforms': [{ id: 3, fs_slug: 'snes', slug: 'snes', name: 'SNES', custom_name: null, ...times }],
  '/api/roms': { items: ROMS, total: 150 },
  '/api/roms/2': { id: 2, all_user_notes: [{ id: 5, user_id: 2, title: 'Mine', content: 'text' }, { id: 6, user_id: 1, title: 'Other', content: 'x' }] },
  '/api/saves': [SAVE],
  [`/api/saves?device_id=${UUID}`]: [{
    ...SAVE, device_syncs: [{ device_id: UUID, last_synced_at: '2026-03-01T12:00:00Z', is_untracked: false, is_current: false }]
  }],
  '/api/saves/7/content': Buffer.from('save'),
  '/api/raw/assets/users/x/screenshots/snes/1/a%20b.png': Buffer.from('former route'),
  '/api/states': [],
  '/api/devices': [{ id: UUID, user_id: 2, name: 'RG', sync_config: { ssh_host: 'h', ssh_password: '********' }, sync_enabled: true, sync_mode: 'api' }],
  '/api/play-sessions': [{
    id: 1, user_id: 2, device_id: UUID, rom_id: 1, start_time: '2026-03-01T10:00:00Z', end_time: '2026-03-01T11:00:00Z', duration_ms: 3_600_000
  }],
  '/api/collections': [
    { id: 1, user_id: 2, name: 'Favourites', is_public: false, rom_ids: [2, 1], ...times },
    { id: 2, user_id: 1, name: 'Of another', is_public: true, rom_ids: [3] }
  ],
  '/api/collections/smart': [{ id: 1, user_id: 2, name: 'S', filter_criteria: { genres: ['RPG'] } }],
  '/api/music/playlists': [{ id: 4, user_id: 2, name: 'Mix' }],
  '/api/music/playlists/4/tracks': { items: [{ rom_file_id: 1149, rom_id: 150 }, { rom_file_id: 9, rom_id: 9 }] },
  '/api/music/favorites': { items: [{ rom_file_id: 1149, rom_id: 150 }] },
  '/assets/romm/resources/roms/3/1/cover/big.png': Buffer.from('cover'),
  // More than the buffers between the two ends hold.
  '/assets/romm/resources/film.mp4': Buffer.alloc(32 * 1024 ** 2)
})

t.test('an account reads its own things and the library', async (t) => {
  const { address, requests, running } = await playRomm(t, FULL)
  const context = createContext(t.testdir())
  const importer = await openRomm({ address: `${address}/`, token: TOKEN }, context)
  t.teardown(() => importer.close())
  const all = await listAll(importer)

  t.equal(importer.identity, `romm-api:${address}:bob`)
  t.match(importer.title, 'RomM 5.2.0 at http://127.0.0.1')
  t.match(importer.absent, { token: String, hidden: String })
  t.match(all.user, [{ id: '2', username: 'bob', role: 'user', password_hash: null, created_at: '2026-03-01T10:00:00Z' }])
  t.equal(all.rom.length, 150, 'all pages are read')
  t.match(all.rom[0], {
    id: '1', provider_ids: {}, files: [{ id: '1000', size_bytes: 5 }], cover: { file: { path: 'resources/roms/3/1/cover/big.png' } }
  })
  t.match(all.mark, [{ rom_id: '1', user_id: '2', rating: 7, status: 'finished' }])
  t.equal(all.mark.length, 1)
  t.match(all.note, [{ id: '5', rom_id: '2', title: 'Mine' }])
  t.equal(all.note.length, 1, 'notes of others are skipped')
  t.match(all.device, [{ device_id: UUID, sync_config: { ssh_host: 'h' } }])
  t.notMatch(all.device[0]?.sync_config, { ssh_password: String }, 'a masked secret is none')
  t.match(all.device_sync, [{ device_id: UUID, asset_id: '7', last_synced_at: '2026-03-01T12:00:00Z' }])
  t.match(all.play_session, [{ rom_id: '1', duration_ms: 3_600_000 }])
  t.match(all.collection, [{ name: 'Favourites', is_favorite: true, rom_ids: ['1', '2'] }], 'older releases have favourites by name')
  t.equal(all.collection.length, 1)
  t.match(all.smart_collection, [{ filter_criteria: { genres: ['RPG'] } }])
  const track = { rom_id: '150', path: 'game 149.sfc' }
  t.match(all.playlist, [{ name: 'Mix', tracks: [track] }])
  t.match(all.favorite_track, [{ user_id: '2', track }])
  t.match(all.asset, [
    { kind: 'save', id: '7', slot: 'main', rom_fs_name: 'game 0.sfc', platform_fs_slug: 'snes' }, { kind: 'screenshot', id: '8' }
  ])

  t.equal(await readFile(importer, all.asset[0]?.file), 'save')
  t.equal(await readFile(importer, all.asset[1]?.file), 'former route', 'RomM 4 serves the assets folder')
  t.equal(await readFile(importer, all.rom[0]?.cover?.file), 'cover')
  const unread = await importer.open({ path: 'resources/film.mp4', size_bytes: null })
  t.equal(running.size, 1)
  unread.destroy()
  await until(() => running.size === 0, 'a file that nobody reads frees its connection')
  await t.rejects(readFile(importer, all.user[0]?.avatar), FileAbsentError)
  await t.rejects(importer.open({ path: 'assets/../secret', size_bytes: null }), FileAbsentError)
  t.ok(requests.every(({ authorization }) => authorization === `Bearer ${TOKEN}`))
  t.notMatch(JSON.stringify([context.warnings, context.skipped]), TOKEN)
  t.match(context.warnings, [/only its own things/, /\/api\/permissions\/groups was not read: RomM answered 404/])
})

t.test('an answer with hardly a field gives what it has', async (t) => {
  const { address } = await playRomm(t, at({
    '/api/heartbeat': {},
    '/api/users/me': { id: 1, username: 'root', role: 'ADMIN' },
    '/api/platforms': [{}, { id: 1, fs_slug: 'nes' }, 'text', null],
    '/api/roms': { items: [{ id: 1 }, { id: 2, platform_id: 1, fs_name: 'a.nes', files: 'none', rom_user: null, has_notes: false }] },
    '/api/saves': [{ id: 1 }, { id: 2, file_name: 'a.srm', user_id: 1 }],
    '/api/collections': [{ id: 1, user_id: 1, name: 'A', rom_ids: null }]
  }))
  const context = createContext(t.testdir())
  const importer = await openRomm({ address, token: 'root:s3cret' }, context)
  t.teardown(() => importer.close())
  const all = await listAll(importer)
  t.match(all.platform, [{ id: '1', name: null }])
  t.match(all.rom, [{ id: '2', files: [], name: null }])
  t.match(all.asset, [{ id: '2', rom_id: null, file: { path: 'assets/a.srm' } }])
  t.match(all.collection, [{ rom_ids: [], is_favorite: false }])
  t.match(context.skipped, [{ kind: 'platform', reason: /id is missing/ }, { kind: 'rom', id: '1' }, { kind: 'asset', id: '1' }])
})

t.test('an address that is not RomM\'s is refused with a remedy and without the token', async (t) => {
  const context = createContext(t.testdir())
  const open = (answers: Answers) => playRomm(t, at({ '/api/heartbeat': {}, ...answers }))
    .then(({ address }) => openRomm({ address, token: TOKEN }, context))
  await t.rejects(open({ '/api/users/me': 401 }), /refused the token. Create one with the scopes/)
  await t.rejects(open({ '/api/users/me': 302 }), /redirects \(302\). Give the address/)
  await t.rejects(open({}), /answered 404. Check the address/)
  await t.rejects(open({ '/api/users/me': [] }), /not that of RomM/)
  await t.rejects(open({ '/api/users/me': {} }), /did not say whose token/)
  await t.rejects(openRomm({ address: 'http://127.0.0.1:1', token: TOKEN }, context), /cannot be read/)
  await t.rejects(openRomm({ address: 'ftp://romm', token: TOKEN }, context), /no http or https address/)
  await t.rejects(openRomm({ address: 'https://a:b@romm.example', token: TOKEN }, context), /Give user:password as the token/)
  await t.rejects(openRomm({ address: 'https://romm.example' }, context), /needs a client token/)
  await t.rejects(openRomm({ address: 'https://romm.example', dump: '/x' }, context), /dump and address are given/)
})
