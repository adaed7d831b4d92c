import type { Caller } from '../../../core/access/auth.ts'
import { readTime } from '../../../core/database/times.ts'
import { nameOnDevice } from '../../assets/asset-names.ts'
import { NAME_KEY_START, withoutDateTag } from '../../assets/base-rows.ts'
import type { Device } from '../../devices/entities.ts'
import type { AssetKind } from '../../assets/entities.ts'
import { type ListedFile, type Listing, isPreferredName, readChange, readStoredName } from '../read-listing.ts'
import type { Pair } from '../pair.ts'
import type { AssetRow } from '../rows.ts'
import { readResolution } from '../resolution.ts'
import type { FileOperation, NegotiateBody } from '../schemas.ts'

/** Suffixes that emulators give to state files. */
const STATE_NAME = /\.state(\d+|\.auto)?$/i
const ROUTES = { save: '/api/saves', state: '/api/states' } as const

const routeOf = (kind: AssetKind) => kind === 'state' ? ROUTES.state : ROUTES.save

function listFiles (roms: NonNullable<NegotiateBody['roms']>): ListedFile[] {
  const files: ListedFile[] = []
  for (const [index, { rom_id: romId, saves }] of roms.entries()) {
    for (const [position, { file, mtime, sha1 }] of saves.entries()) {
      const stored = readStoredName(file)
      // The schema allows only a digest, an empty text or null.
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
        key: stored === null ? null : withoutDateTag(stored)
      })
    }
  }
  return files
}

/** Reads the dialect that lists saves and states below their ROMs and pairs them by name. */
export function readByFile (roms: NonNullable<NegotiateBody['roms']>): Listing {
  return {
    files: listFiles(roms),
    kinds: ['save', 'state'],
    rom_ids: [...new Set(roms.map((rom) => rom.rom_id))],
    includes_known: true,
    restores_unlisted: false,
    keyOf: ({ file_name: fileName }) => withoutDateTag(fileName),
    key_start: NAME_KEY_START,
    isPreferred: isPreferredName
  }
}

/** Returns a directory on the device with its trailing separator; an empty text if the device named none. */
const readFolder = (path = '') => path === '' ? '' : `${path.replace(/[\\/]+$/, '')}/`

const parameter = (name: string, value: string | null) =>
  value === null ? '' : `&${name}=${encodeURIComponent(value.toWellFormed())}`

/** Returns the `mtime` parameter of a file. An invalid time is skipped, because the time is only displayed. */
const mtimeOf = (file: ListedFile | null) =>
  parameter('mtime', file === null ? null : readTime(file.mtime)?.toISOString() ?? null)

/** Creates operations with complete paths, for a device and the session with this UUID. */
export function createFileOperations (device: Device, sessionId: string, caller: Caller) {
  const stamp = `device_id=${device.id}&session_id=${sessionId}`
  // Naming the device in a download needs a scope that many companion apps lack. A bound token identifies the device
  // anyway.
  const downloadStamp = caller.scopes.has('devices.read') ? stamp : `session_id=${sessionId}`
  const resolution = readResolution(device)
  const folders = { save: readFolder(device.paths?.saves), state: readFolder(device.paths?.states) }

  function uploadPath ({ rom_id: romId, kind, file }: Pair, extra: string): string {
    return `${routeOf(kind)}?rom_id=${romId}&${stamp}${extra}${mtimeOf(file)}`
  }

  /**
   * Returns parameters that replace the server's content if it is unchanged. An asset that is no longer the newest of
   * its slot gets a new file beside it.
   */
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
    const file = pair.file?.file_name ?? nameOnDevice(asset?.file_name ?? '', asset?.plus_stem ?? null)
    const named = { rom_id: romId, file }
    if (action === 'upload') {
      return { type: action, ...named, destination: uploadPath(pair, asset === null ? '&expected_sha1=none' : replacing(pair, asset)) }
    }
    if (action === 'download' && asset !== null) return { type: action, ...named, ...download(pair, asset, file) }
    if (action === 'conflict' && asset !== null) {
      const destination = conflictPath(pair, asset)
      return { type: action, ...named, resolution, destination, ...download(pair, asset, file) }
    }
    // The device may keep a file that was deleted on the server; the file is not uploaded again.
    return { type: 'noop', ...named }
  }
}
