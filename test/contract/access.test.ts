import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import { join } from 'node:path'
import t from 'tap'
import { listContainers } from '../../plugins/streaming/containers.ts'
import { buildTestApp } from '../support.ts'

interface Operation { operationId: string, security: Record<string, string[]>[] }
interface Document {
  paths: Record<string, Record<string, Operation>>
  'x-socket-events': { name: string, scopes: string[] }[]
}

const { app, config, createUser } = await buildTestApp(t)
await app.listen({ port: 0, host: '127.0.0.1' })
const alice = await createUser('alice')
const bob = await createUser('bob')
const document: Document = (await app.inject('/openapi.json')).json()

async function insert (sql: string, values: unknown[] = []): Promise<number> {
  const { rows: [row] } = await app.pg.query<{ id: number }>(`${sql} returning id`, values)
  return row?.id ?? 0
}

const userId = async (name: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [name])).rows[0]?.id ?? 0

/** Creates objects of alice, and a platform with a ROM that is hidden from bob. */
async function makeThings () {
  const [owner, other] = [await userId('alice'), await userId('bob')]
  const platform = await insert("insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES')")
  const rom = await insert(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    values ($1, 'Game.sfc', 'roms/snes', 'Game', 'Game')`, [platform])
  const file = await insert(`insert into rom_files (rom_id, file_name, file_path, last_modified)
    values ($1, 'Game.sfc', 'roms/snes', now())`, [rom])
  const firmware = await insert("insert into firmware (platform_id, file_name, file_path) values ($1, 'x', 'bios/snes')",
    [platform])
  await insert("insert into hidden_entities (entity, entity_id, user_id) values ('platforms', $1, $2)", [platform, other])
  const token = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: alice, payload: { name: 'x', scopes: ['me.read'] }
  })).json<{ id: number }>().id
  await app.inject({ method: 'POST', url: '/api/login', headers: alice })
  const session = (await app.pg.query<{ id: number }>('select id from sessions where user_id = $1', [owner])).rows[0]?.id ?? 0
  const notification = await insert("insert into notifications (user_id, kind, level) values ($1, 'custom', 'info')", [owner])
  const channel = await insert(`insert into notification_channels (user_id, type, name, sealed)
    values ($1, 'webhook', 'x', 'x')`, [owner])
  const playSession = await insert(`insert into play_sessions (user_id, identity, start_time, end_time)
    values ($1, 'x', now(), now())`, [owner])
  const player = await insert('insert into devices (user_id) values ($1)', [owner])
  await app.pg.query(`insert into activity_entries (user_id, device_id, rom_id, expires_at)
    values ($1, $2, $3, now() + interval '1 hour')`, [owner, player, rom])
  const install = await insert('insert into install_requests (user_id, device_id, rom_id) values ($1, $2, $3)',
    [owner, player, rom])
  const note = await insert("insert into notes (rom_id, user_id, title, is_public) values ($1, $2, 'Hers', true)", [rom, owner])
  const sync = await insert('insert into sync_sessions (user_id, device_id) values ($1, $2)', [owner, player])
  const addAsset = (kind: string, deletedAt: Date | null = null) => insert(`insert into assets (kind, user_id, rom_id,
    platform_fs_slug, rom_fs_name, file_name, sha1, disk_path, is_public, deleted_at, deleted_by)
    values ($1, $2, $3, 'snes', 'Game.sfc', 'x', 'x', 'x', true, $4, case when $4::timestamptz is null then null else 'owner' end)`,
  [kind, owner, rom, deletedAt])
  const [save, state, screenshot] = [await addAsset('save'), await addAsset('state'), await addAsset('screenshot')]
  const [deletedSave, deletedState] = [await addAsset('save', new Date()), await addAsset('state', new Date())]
  const version = await insert(`insert into asset_versions (asset_id, file_name, sha1, disk_path, content_updated_at)
    values ($1, 'x', 'x', 'x', now())`, [save])
  const webdavFile = await insert("insert into webdav_files (user_id, path, folded, asset_id) values ($1, 'saves/x', 'saves/x', $2)", [owner, save])
  const collection = await insert("insert into collections (user_id, name) values ($1, 'x')", [owner])
  const smart = await insert("insert into smart_collections (user_id, name, filter_criteria) values ($1, 'x', '{}')", [owner])
  await writeFile(join(config.data_dir, 'config.yml'), 'streaming: { enabled: true, containers: [{ platform: snes, host: "http://x.example" }] }')
  await app.pg.query(`insert into streaming_sessions (container, claim, user_id, platform, rom_id, rom_name, state, expires_at)
    values ($1, gen_random_uuid(), $2, 'snes', $3, 'Game', 'active', now() + interval '1 hour')`,
  [listContainers(config)[0]?.id, owner, rom])
  const dat = await insert("insert into dats (key, name, platform_slugs) values ('x', 'x', '{snes}')")
  const playlist = await insert("insert into music_playlists (user_id, name) values ($1, 'x')", [owner])
  return {
    collection, smart, playlist,
    save, state, screenshot, version, deletedSave, deletedState, user: owner, platform, firmware, rom, file, token,
    session, notification, channel, sync, playSession, player, install, note, dat, webdavFile
  }
}
const things = await makeThings()

/**
 * For each operation on one object: the path of an object that belongs to alice or is hidden from bob, and the status.
 */
const FOREIGN: Record<string, [path: string, status: number]> = {
  revokeSession: [`/api/sessions/${things.session}`, 404],
  deleteClientToken: [`/api/client-tokens/${things.token}`, 404],
  regenerateClientToken: [`/api/client-tokens/${things.token}/regenerate`, 404],
  pairClientToken: [`/api/client-tokens/${things.token}/pair`, 404],
  // Users are not secret, so a caller who may not change one gets 403.
  updateUser: [`/api/users/${things.user}`, 403],
  refreshUserAchievements: [`/api/users/${things.user}/ra/refresh`, 403],
  getUserAvatar: [`/api/users/${things.user}/avatar`, 404],
  getDeviceAuthorization: ['/api/auth/device/pending/ABCDEFGH', 404],
  getPkgiPsThreeFeed: ['/api/feeds/pkgi/ps3/game', 404],
  getPkgiPsVitaFeed: ['/api/feeds/pkgi/psvita/game', 404],
  getPkgiPspFeed: ['/api/feeds/pkgi/psp/game', 404],
  getFpkgiFeed: ['/api/feeds/fpkgi/snes', 404],
  getKekatsuFeed: ['/api/feeds/kekatsu/snes', 404],
  getWebrcadePlatformFeed: ['/api/feeds/webrcade/snes', 404],
  getPlatform: [`/api/platforms/${things.platform}`, 404],
  // A library is hidden from nobody, but its content may be.
  getLibrary: ['/api/libraries/1', 200],
  getDat: [`/api/dats/${things.dat}`, 404],
  listDatGames: [`/api/dats/${things.dat}/games`, 404],
  listDatExtras: [`/api/dats/${things.dat}/extras`, 404],
  getFixdat: [`/api/dats/${things.dat}/fixdat`, 404],
  getFirmware: [`/api/firmware/${things.firmware}`, 404],
  getFirmwareContent: [`/api/firmware/${things.firmware}/content/x`, 404],
  headFirmwareContent: [`/api/firmware/${things.firmware}/content/x`, 404],
  // The body is checked before the file is looked up.
  patchRomFile: [`/api/roms/${things.file}/patch`, 400],
  getRom: [`/api/roms/${things.rom}`, 404],
  getSimpleRom: [`/api/roms/${things.rom}/simple`, 404],
  getRomSources: [`/api/roms/${things.rom}/sources`, 404],
  updateRomProps: [`/api/roms/${things.rom}/props`, 404],
  listRomTracks: [`/api/roms/${things.rom}/soundtracks/metadata`, 404],
  listRomNotes: [`/api/roms/${things.rom}/notes`, 404],
  listRomNoteIds: [`/api/roms/${things.rom}/notes/identifiers`, 404],
  addRomNote: [`/api/roms/${things.rom}/notes`, 404],
  updateRomNote: [`/api/roms/${things.rom}/notes/${things.note}`, 404],
  deleteRomNote: [`/api/roms/${things.rom}/notes/${things.note}`, 404],
  getRomFile: [`/api/roms/${things.file}/files`, 404],
  getRomContent: [`/api/roms/${things.rom}/content/Game.sfc`, 404],
  getCollection: [`/api/collections/${things.collection}`, 404],
  updateCollection: [`/api/collections/${things.collection}`, 404],
  deleteCollection: [`/api/collections/${things.collection}`, 404],
  addCollectionRoms: [`/api/collections/${things.collection}/roms`, 404],
  removeCollectionRoms: [`/api/collections/${things.collection}/roms`, 404],
  getSmartCollection: [`/api/collections/smart/${things.smart}`, 404],
  updateSmartCollection: [`/api/collections/smart/${things.smart}`, 404],
  deleteSmartCollection: [`/api/collections/smart/${things.smart}`, 404],
  getVirtualCollection: ['/api/collections/virtual/eyJuYW1lIjogIngiLCAidHlwZSI6ICJnZW5yZSJ9', 404],
  getPlaylist: [`/api/music/playlists/${things.playlist}`, 404],
  updatePlaylist: [`/api/music/playlists/${things.playlist}`, 404],
  deletePlaylist: [`/api/music/playlists/${things.playlist}`, 404],
  listPlaylistTracks: [`/api/music/playlists/${things.playlist}/tracks`, 404],
  addPlaylistTracks: [`/api/music/playlists/${things.playlist}/tracks`, 404],
  removePlaylistTracks: [`/api/music/playlists/${things.playlist}/tracks`, 404],
  orderPlaylistTracks: [`/api/music/playlists/${things.playlist}/tracks/order`, 404],
  updateNotificationChannel: [`/api/notification-channels/${things.channel}`, 404],
  deleteNotificationChannel: [`/api/notification-channels/${things.channel}`, 404],
  testNotificationChannel: [`/api/notification-channels/${things.channel}/test`, 404],
  confirmNotificationChannel: [`/api/notification-channels/${things.channel}/confirm`, 404],
  resendNotificationChannelCode: [`/api/notification-channels/${things.channel}/resend-code`, 404],
  dismissNotification: [`/api/notifications/${things.notification}`, 404],
  getSyncSession: [`/api/sync/sessions/${things.sync}`, 404],
  syncDevice: [`/api/sync/devices/${things.player}/push-pull`, 404],
  completeSyncSession: [`/api/sync/sessions/${things.sync}/complete`, 404],
  deletePlaySession: [`/api/play-sessions/${things.playSession}`, 404],
  // Activity on a hidden ROM is empty.
  listRomActivity: [`/api/activity/rom/${things.rom}`, 200],
  getDevice: [`/api/devices/${things.player}`, 404],
  updateDevice: [`/api/devices/${things.player}`, 404],
  deleteDevice: [`/api/devices/${things.player}`, 404],
  createInstallRequest: [`/api/devices/${things.player}/installs`, 404],
  listInstallRequests: [`/api/devices/${things.player}/installs`, 404],
  claimInstallRequests: [`/api/devices/${things.player}/installs/claim`, 404],
  reportInstall: [`/api/devices/${things.player}/installs/${things.install}`, 404],
  reportInstallProgress: [`/api/devices/${things.player}/installs/${things.install}/progress`, 404],
  cancelInstallRequest: [`/api/devices/${things.player}/installs/${things.install}`, 404],
  listRomInstallRequests: [`/api/roms/${things.rom}/installs`, 404],
  getSave: [`/api/saves/${things.save}`, 404],
  updateSave: [`/api/saves/${things.save}`, 404],
  updateSaveVisibility: [`/api/saves/${things.save}/visibility`, 404],
  getSaveContent: [`/api/saves/${things.save}/content`, 404],
  headSaveContent: [`/api/saves/${things.save}/content`, 404],
  listSaveVersions: [`/api/saves/${things.save}/versions`, 404],
  addSaveVersion: [`/api/saves/${things.save}/versions`, 404],
  getSaveVersionContent: [`/api/saves/${things.save}/versions/${things.version}/content`, 404],
  headSaveVersionContent: [`/api/saves/${things.save}/versions/${things.version}/content`, 404],
  restoreSaveVersion: [`/api/saves/${things.save}/versions/${things.version}/restore`, 404],
  assignWebdavFile: [`/api/webdav/files/${things.webdavFile}/rom`, 404],
  restoreWebdavFile: [`/api/webdav/files/${things.webdavFile}/restore`, 404],
  resolveSaveConflict: [`/api/saves/${things.save}/resolve`, 404],
  resolveStateConflict: [`/api/states/${things.state}/resolve`, 404],
  restoreSave: [`/api/saves/${things.deletedSave}/restore`, 404],
  getDeletedSaveContent: [`/api/saves/deleted/${things.deletedSave}/content`, 404],
  headDeletedSaveContent: [`/api/saves/deleted/${things.deletedSave}/content`, 404],
  confirmSaveDownload: [`/api/saves/${things.save}/downloaded`, 404],
  getState: [`/api/states/${things.state}`, 404],
  updateState: [`/api/states/${things.state}`, 404],
  updateStateVisibility: [`/api/states/${things.state}/visibility`, 404],
  getStateContent: [`/api/states/${things.state}/content`, 404],
  headStateContent: [`/api/states/${things.state}/content`, 404],
  listStateVersions: [`/api/states/${things.state}/versions`, 404],
  addStateVersion: [`/api/states/${things.state}/versions`, 404],
  getStateVersionContent: [`/api/states/${things.state}/versions/${things.version}/content`, 404],
  headStateVersionContent: [`/api/states/${things.state}/versions/${things.version}/content`, 404],
  restoreStateVersion: [`/api/states/${things.state}/versions/${things.version}/restore`, 404],
  restoreState: [`/api/states/${things.deletedState}/restore`, 404],
  getDeletedStateContent: [`/api/states/deleted/${things.deletedState}/content`, 404],
  headDeletedStateContent: [`/api/states/deleted/${things.deletedState}/content`, 404],
  confirmStateDownload: [`/api/states/${things.state}/downloaded`, 404],
  trackSave: [`/api/saves/${things.save}/track`, 404],
  untrackSave: [`/api/saves/${things.save}/untrack`, 404],
  getScreenshotContent: [`/api/screenshots/${things.screenshot}/content`, 404],
  headScreenshotContent: [`/api/screenshots/${things.screenshot}/content`, 404],
  updateScreenshot: [`/api/screenshots/${things.screenshot}`, 404],
  deleteScreenshot: [`/api/screenshots/${things.screenshot}`, 404],
  getRomFileContent: [`/api/roms/${things.file}/files/content/Game.sfc`, 404],
  saveAndExitStreamingSession: ['/api/streaming/sessions/snes/save-and-exit', 403],
  setStreamingVolume: ['/api/streaming/sessions/snes/volume', 403],
  muteStreamingSession: ['/api/streaming/sessions/snes/mute', 403],
  saveStreamingState: ['/api/streaming/sessions/snes/save-state', 403],
  loadStreamingState: ['/api/streaming/sessions/snes/load-state', 403],
  addStreamingFrame: ['/api/streaming/sessions/snes/state-frame', 403],
  swapStreamingDisc: ['/api/streaming/sessions/snes/swap-disc', 403],
  releaseStreamingSession: ['/api/streaming/sessions/snes', 403],
  joinStreamingSession: ['/api/streaming/sessions/snes/join', 404],
  // These are about the caller's own session, which does not exist.
  sendStreamingHeartbeat: ['/api/streaming/sessions/snes/heartbeat', 200],
  getStreamingStatus: ['/api/streaming/sessions/snes/status', 200]
}
const BODIES: Record<string, object> = {
  reportInstallProgress: { percent: 5 },
  resolveSaveConflict: { keep: 'both' },
  resolveStateConflict: { keep: 'both' },
  updateNotificationChannel: { enabled: false },
  confirmNotificationChannel: { code: '123456' },
  updateCollection: { name: 'his', rom_ids: '[]' },
  addCollectionRoms: { rom_ids: [things.rom] },
  removeCollectionRoms: { rom_ids: [things.rom] },
  updateSmartCollection: { name: 'his' },
  updatePlaylist: { name: 'his' },
  addPlaylistTracks: { rom_file_ids: [] },
  removePlaylistTracks: { rom_file_ids: [] },
  orderPlaylistTracks: { rom_file_ids: [] },
  updateSaveVisibility: { is_public: false },
  updateStateVisibility: { is_public: false },
  updateScreenshot: { is_public: false },
  confirmSaveDownload: {},
  confirmStateDownload: {},
  trackSave: {},
  untrackSave: {},
  addRomNote: { title: 'His' },
  updateRomNote: { title: 'His' },
  updateRomProps: { hidden: true }, refreshUserAchievements: {},
  updateDevice: { name: 'His' },
  createInstallRequest: { rom_id: things.rom },
  reportInstall: { status: 'done' },
  completeSyncSession: {},
  saveAndExitStreamingSession: {},
  setStreamingVolume: { level: 1 },
  muteStreamingSession: {},
  saveStreamingState: {},
  loadStreamingState: {},
  swapStreamingDisc: { file_id: things.file },
  assignWebdavFile: { rom_id: things.rom }
}

/** Events that are silently ignored when refused, with a valid payload. */
const IGNORED: Record<string, object> = Object.fromEntries(['activity:start', 'activity:heartbeat', 'activity:stop']
  .map((name) => [name, { rom_id: things.rom, device_id: things.player, user_id: things.user }]))

const TABLES = ['sync_sessions', 'devices', 'install_requests', 'play_sessions', 'activity_entries', 'client_tokens', 'sessions', 'roms', 'rom_users', 'notes', 'dats', 'platforms', 'pairing_codes', 'notifications',
  'notification_channels', 'collections', 'collection_roms', 'smart_collections', 'streaming_sessions', 'music_playlists']
const dump = async () => JSON.stringify(await Promise.all(TABLES
  .map(async (table) => (await app.pg.query(`select * from ${table} order by 1`)).rows as unknown[])))

t.test('every operation on one object refuses foreign and hidden ones, without changes', async (t) => {
  const me = (await app.inject({ url: '/api/users/me', headers: bob })).json<{ oauth_scopes: string[] }>()
  const scopes = me.oauth_scopes
  const before = await dump()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, security }] of Object.entries(methods)) {
      // HEAD is guarded like its GET.
      if (method === 'head' || !path.includes('{') || security.length === 0) continue
      const sets = security.flatMap((one) => Object.values(one))
      const isHeld = sets.some((wanted) => wanted.every((scope) => scopes.includes(scope)))
      const [url, status] = FOREIGN[operationId] ?? [path.replace(/\{\w+\}/g, '1'), isHeld ? null : 403]
      if (status === null) {
        t.fail(`${operationId} acts on one thing: say in this file what somebody else is answered`)
        continue
      }
      const reply = await app.inject({
        method: method.toUpperCase() as 'GET', url, headers: bob,
        ...(BODIES[operationId] === undefined ? {} : { payload: BODIES[operationId] })
      })
      t.equal(reply.statusCode, status, `${operationId}: ${reply.body.slice(0, 200)}`)
    }
  }
  t.equal(await dump(), before)
})

t.test('every client event is refused to guests and to members without its scopes', async (t) => {
  const events = document['x-socket-events']
  t.ok(events.length > 0)
  const session = (await app.inject({ method: 'POST', url: '/api/login', headers: bob })).cookies
    .find(({ name }) => name === 'svc_session')?.value
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const held: string[] = (await app.inject({ url: '/api/users/me', headers: bob })).json<{ oauth_scopes: string[] }>().oauth_scopes
  for (const cookie of [null, `svc_session=${session}`]) {
    const socket = io(base, {
      path: '/ws/socket.io', transports: ['websocket'], forceNew: true,
      ...(cookie === null ? {} : { extraHeaders: { cookie } })
    })
    t.teardown(() => { socket.disconnect() })
    await once(socket as never, 'connect')
    for (const { name, scopes } of events) {
      t.ok(scopes.length > 0, `${name} needs a scope`)
      if (cookie !== null && scopes.every((scope) => held.includes(scope))) continue
      const answer = new Promise<unknown[]>((resolve) => { socket.onAny((...given: unknown[]) => { resolve(given) }) })
      socket.emit(name, IGNORED[name] ?? {})
      // So the first answer must be that of the second event.
      if (IGNORED[name] !== undefined) socket.emit('scan:stop', {})
      t.match(await answer, [String, /not authorized/], `${name} by ${cookie === null ? 'a guest' : 'a member'}`)
      socket.offAny()
    }
  }
  t.equal((await app.pg.query('select 1 from tasks')).rowCount, 0, 'nothing was started')
  const { rows } = await app.pg.query('select user_id, device_id from activity_entries')
  t.same(rows, [{ user_id: things.user, device_id: things.player }], 'nor ended')
})
