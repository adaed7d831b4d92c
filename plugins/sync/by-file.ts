import type { Caller } from '../../core/access/auth.ts'
import { readTime } from '../../core/database/times.ts'
import { NAME_KEY_START, untagged } from '../assets/base-rows.ts'
import type { Device } from '../devices/entities.ts'
import type { AssetKind } from '../assets/entities.ts'
import { type ListedFile, type Listing, readChange, readStoredName } from './read-listing.ts'
import type { Pair } from './pairs.ts'
import type { AssetRow } from './rows.ts'
import { type FileOperation, type NegotiateBody, RESOLUTIONS, type Resolution } from './schemas.ts'

/** What emulators end the names of states with. */
const STATE_NAME = /\.state(\d+|\.auto)?$/i
const ROUTES = { save: '/api/saves', state: '/api/states' } as const

const routeOf = (kind: AssetKind) => kind === 'state' ? ROUTES.state : ROUTES.save

function listFiles (roms: NonNullable<NegotiateBody['roms']>): ListedFile[] {
  const files: ListedFile[] = []
  for (const [index, { rom_id: romId, saves }] of roms.entries()) {
    for (const [position, { file, mtime, sha1 }] of saves.entries()) {
      const stored = readStoredName(file)
      // The schema lets a digest through, or nothing.
      const hash = sha1 ? sha1.toLowerCase() : null
      files.push({
        rom_id: romId,
        kind: STATE_NAME.test(file) ? 'state' : 'save',
        file_name: file,
        mtime,
        slot: null,
        emulator: null,
        hash,
        changed_at: hash === null ? readChange(mtime, ['roms', index, 'saves', position, 'mtime']) : 0,
        is_storable: stored !== null,
        key: stored === null ? null : untagged(stored)
      })
    }
  }
  return files
}

/** The dialect that lists saves and states below their ROMs and pairs them by their names. */
export function readByFile (roms: NonNullable<NegotiateBody['roms']>): Listing {
  return {
    files: listFiles(roms),
    kinds: ['save', 'state'],
    rom_ids: [...new Set(roms.map((rom) => rom.rom_id))],
    includes_known: true,
    restores_unlisted: false,
    keyOf: ({ file_name: fileName }) => untagged(fileName),
    key_start: NAME_KEY_START
  }
}

/** How a device that lists by file settles conflicts; one that only receives hands over its own file to be kept. */
export function readResolution ({ sync_mode: mode, sync_config: config }: Device): Resolution {
  if (mode === 'pull_only') return 'server_wins'
  const wanted = config?.conflict_resolution
  return RESOLUTIONS.find((resolution) => resolution === wanted) ?? 'keep_both'
}

/** A directory on the device with what separates it from a file in it; nothing when the device named none. */
const readFolder = (path = '') => path === '' ? '' : `${path.replace(/[\\/]+$/, '')}/`

const parameter = (name: string, value: string | null) =>
  value === null ? '' : `&${name}=${encodeURIComponent(value.toWellFormed())}`

/** What cannot be read as a time is left out: it is only shown. */
const mtimeOf = (file: ListedFile | null) =>
  parameter('mtime', file === null ? null : readTime(file.mtime)?.toISOString() ?? null)

/** Operations whose paths need nothing added, for a device and the session with this UUID. */
export function createFileOperations (device: Device, sessionId: string, caller: Caller) {
  const stamp = `device_id=${device.id}&session_id=${sessionId}`
  // To name the device there takes a scope that companion apps often do not have; a bound token says it by itself.
  const downloadStamp = caller.scopes.has('devices.read') ? stamp : `session_id=${sessionId}`
  const resolution = readResolution(device)
  const folders = { save: readFolder(device.paths?.saves), state: readFolder(device.paths?.states) }

  function uploadPath ({ rom_id: romId, kind, file }: Pair, extra: string): string {
    return `${routeOf(kind)}?rom_id=${romId}&${stamp}${extra}${mtimeOf(file)}`
  }

  /** In the place of the server's content, if that is still what it was; beside it where it has no place any more. */
  function replacing ({ is_replaceable: isReplaceable }: Pair, { sha1, slot, emulator }: AssetRow): string {
    const folder = parameter('emulator', emulator)
    return isReplaceable ? `&expected_sha1=${sha1}${parameter('slot', slot)}${folder}&overwrite=true` : folder
  }

  function conflictPath (pair: Pair, asset: AssetRow): string {
    if (resolution === 'device_wins') return uploadPath(pair, replacing(pair, asset))
    if (resolution === 'server_wins') return `${routeOf(pair.kind)}/${asset.id}/versions?${stamp}${mtimeOf(pair.file)}`
    return uploadPath(pair, `&conflict_of=${asset.id}${parameter('emulator', asset.emulator)}`)
  }

  function download (pair: Pair, asset: AssetRow, file: string) {
    const folder = pair.kind === 'state' ? folders.state : folders.save
    return { source: `${routeOf(pair.kind)}/${asset.id}/content?${downloadStamp}`, dest_path: `${folder}${file}` }
  }

  return function toOperation (pair: Pair): FileOperation {
    const { rom_id: romId, asset, decision: { action } } = pair
    const file = pair.file?.file_name ?? untagged(asset?.file_name ?? '')
    const named = { rom_id: romId, file }
    if (action === 'upload') {
      return { type: action, ...named, destination: uploadPath(pair, asset === null ? '&expected_sha1=none' : replacing(pair, asset)) }
    }
    if (action === 'download' && asset !== null) return { type: action, ...named, ...download(pair, asset, file) }
    if (action === 'conflict' && asset !== null) {
      const destination = conflictPath(pair, asset)
      return { type: action, ...named, resolution, destination, ...download(pair, asset, file) }
    }
    // The device may keep what was deleted on the server; it is not sent back.
    return { type: 'noop', ...named }
  }
}
