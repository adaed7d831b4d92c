import type { components } from '../../../api/schema.d.ts'

export type Kind = 'save' | 'state'
type SaveView = components['schemas']['Save']
type StateView = components['schemas']['State']

/** A save or state as the timeline shows it. */
export interface Asset {
  kind: Kind
  id: number
  file_name: string
  file_size_bytes: number
  download_path: string
  updated_at: string
  sha1: string
  emulator: string | null
  slot: string | null
  /** UUID of the device that sent its content. */
  device: string | null
  conflict_of: number | null
  is_public: boolean
  missing_from_fs: boolean
  /** The path of its picture; null if it has none. */
  picture: string | null
  isDeleted: boolean
}

const toAsset =
  (kind: Kind, isDeleted: boolean) =>
    (view: SaveView | StateView): Asset => ({
      kind,
      isDeleted,
      id: view.id,
      file_name: view.file_name,
      file_size_bytes: view.file_size_bytes,
      download_path: view.download_path,
      updated_at: view.updated_at,
      sha1: view.sha1,
      emulator: view.emulator,
      slot: 'slot' in view ? view.slot : null,
      device: view.content_device_id,
      conflict_of: view.conflict_of,
      is_public: view.is_public,
      missing_from_fs: view.missing_from_fs,
      picture: view.screenshot === null || view.screenshot.missing_from_fs ? null : view.screenshot.download_path
    })

const newestFirst = (a: Asset, b: Asset) => b.updated_at.localeCompare(a.updated_at) || b.id - a.id

interface Sources {
  saves: readonly SaveView[]
  states: readonly StateView[]
  deletedSaves: readonly SaveView[]
  deletedStates: readonly StateView[]
}

/** Lists saves and states, deleted ones included, the newest first. */
export const listAssets = ({ saves, states, deletedSaves, deletedStates }: Sources): Asset[] =>
  [
    ...saves.map(toAsset('save', false)),
    ...states.map(toAsset('state', false)),
    ...deletedSaves.map(toAsset('save', true)),
    ...deletedStates.map(toAsset('state', true))
  ].sort(newestFirst)

/** A file that two devices changed: the content on the server, and that of the other device. */
export interface Conflict {
  original: Asset
  copy: Asset
}

/** Separates conflicts from all other assets. A copy without its original is a normal save. */
export function splitConflicts (assets: readonly Asset[]): { conflicts: Conflict[]; others: Asset[] } {
  const originals = new Map(
    assets.filter(({ isDeleted }) => !isDeleted).map((asset) => [`${asset.kind} ${asset.id}`, asset])
  )
  const conflicts: Conflict[] = []
  const others: Asset[] = []
  for (const asset of assets) {
    const original =
      asset.isDeleted || asset.conflict_of === null ? undefined : originals.get(`${asset.kind} ${asset.conflict_of}`)
    if (original === undefined) others.push(asset)
    else conflicts.push({ original, copy: asset })
  }
  return { conflicts, others }
}

/** The assets of one day. */
export interface Day {
  /** Midnight in the time zone of the browser. */ date: Date
  assets: Asset[]
}

/** Groups assets by day, in their order. */
export function groupByDay (assets: readonly Asset[]): Day[] {
  const days = Map.groupBy(assets, ({ updated_at: time }) => new Date(time).setHours(0, 0, 0, 0))
  return [...days].map(([date, list]) => ({ date: new Date(date), assets: list }))
}
