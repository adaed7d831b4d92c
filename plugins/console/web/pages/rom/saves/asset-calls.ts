import { api, call } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { addressOf } from '../../../base.ts'
import type { Asset, Kind } from './timeline.ts'

type Named = Pick<Asset, 'kind' | 'id'>
export type Version = components['schemas']['Version']

/** Returns the address of a download path, which the server gives without the path of the base URL. */
export const addressOfPath = (path: string): string => addressOf(path.replace(/^\//, ''))

export async function deleteAsset ({ kind, id }: Named): Promise<void> {
  if (kind === 'save') await call(api.POST('/api/saves/delete', { body: { saves: [id] } }))
  else await call(api.POST('/api/states/delete', { body: { states: [id] } }))
}

export async function undeleteAsset ({ kind, id }: Named): Promise<void> {
  const params = { path: { id } }
  if (kind === 'save') await call(api.POST('/api/saves/{id}/restore', { params }))
  else await call(api.POST('/api/states/{id}/restore', { params }))
}

export async function listVersions ({ kind, id }: Named, signal?: AbortSignal): Promise<Version[]> {
  const options = { params: { path: { id } }, ...(signal && { signal }) }
  return kind === 'save'
    ? await call(api.GET('/api/saves/{id}/versions', options))
    : await call(api.GET('/api/states/{id}/versions', options))
}

export async function restoreVersion ({ kind, id }: Named, versionId: number): Promise<void> {
  const params = { path: { id, version_id: versionId } }
  if (kind === 'save') await call(api.POST('/api/saves/{id}/versions/{version_id}/restore', { params }))
  else await call(api.POST('/api/states/{id}/versions/{version_id}/restore', { params }))
}

/** Makes the former content with a hash the current one again; nothing if there is none. */
export async function restoreContent (asset: Named, sha1: string): Promise<void> {
  const version = (await listVersions(asset)).find((one) => one.sha1 === sha1)
  if (version !== undefined) await restoreVersion(asset, version.id)
}

/** A file that becomes a save or state. */
export interface Upload { kind: Kind, name: string, content: Blob, emulator?: string | null, picture?: Blob }

/** The parts of a form, which the typed client cannot describe. */
function toForm (kind: Kind, { content, name, picture }: Omit<Upload, 'kind'>): FormData {
  const form = new FormData()
  form.append(`${kind}File`, content, name)
  if (picture !== undefined) form.append('screenshotFile', picture, 'picture.png')
  return form
}

/** Stores a new file; a file with the name of an asset becomes its newest version. */
export async function uploadAsset (romId: number, { kind, emulator, ...file }: Upload): Promise<void> {
  const params = { query: { rom_id: romId, ...(emulator == null ? {} : { emulator }) } }
  const bodySerializer = () => toForm(kind, file)
  if (kind === 'save') await call(api.POST('/api/saves', { params, body: { saveFile: '' }, bodySerializer }))
  else await call(api.POST('/api/states', { params, body: { stateFile: '' }, bodySerializer }))
}

/** Resolves a conflict on the server, in one step. */
export async function resolveConflict ({ kind, id }: Named, keep: 'both' | 'original' | 'copy'): Promise<void> {
  const options = { params: { path: { id } }, body: { keep } }
  if (kind === 'save') await call(api.POST('/api/saves/{id}/resolve', options))
  else await call(api.POST('/api/states/{id}/resolve', options))
}
