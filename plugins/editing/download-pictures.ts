import { ApiError, badRequest } from '../../core/errors.ts'
import { ArtworkStoreError } from '../artwork/failures.ts'
import type { LookupRom } from '../matching/stored-rows.ts'
import type { EditCall } from './edit-call.ts'
import type { CoverPaths, Pictures } from './pictures.ts'

export const NO_COVER: CoverPaths = { large: null, small: null }

/** The pictures that an edit changes; absent ones stay. */
export interface DownloadedPictures { cover?: CoverPaths, path_manual?: string | null }

/** True if an address must be downloaded: it is new, or nothing of it is stored. */
function mustDownload (
  url: string | undefined, stored: string | null | undefined, path: string | null | undefined
): url is string {
  const address = url?.trim() ?? ''
  return address !== '' && (address !== stored || path === null || path === undefined)
}

async function publishUpload (path: string, pictures: Pictures): Promise<CoverPaths> {
  try {
    return await pictures.publishCover(path)
  } catch (err) {
    if (err instanceof ArtworkStoreError) throw err.cause
    if (err instanceof ApiError || !(err instanceof Error)) throw err
    throw badRequest(`The artwork cannot be used: ${err.message}; send another picture`)
  }
}

/** Stores the uploaded cover of an edit, or downloads the cover and the manual from new addresses. */
export async function downloadPictures (
  call: EditCall, rom: LookupRom, pictures: Pictures
): Promise<DownloadedPictures> {
  const downloaded: DownloadedPictures = {}
  const { url_cover: cover, url_manual: manual } = call.texts
  if (call.cover === null) downloaded.cover = NO_COVER
  else if (call.cover !== undefined) downloaded.cover = await publishUpload(call.cover, pictures)
  else if (mustDownload(cover, rom.url_cover, rom.path_cover_large)) {
    downloaded.cover = await pictures.downloadCover(cover.trim()) ?? NO_COVER
  }
  if (mustDownload(manual, rom.url_manual, call.refetches_manual === true ? null : rom.path_manual)) {
    downloaded.path_manual = await pictures.downloadManual(manual.trim())
    if (downloaded.path_manual === null && call.refetches_manual === true) {
      throw badRequest('The manual cannot be fetched now; try again later')
    }
  }
  return downloaded
}
