import { addressOf } from '../../base.ts'
import type { DetailedRom } from '../rom/rom-data.ts'

/** What happens with the cover when the form is saved. */
export type CoverChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'remove' }
  /** The cover of the providers is used again. */
  | { readonly kind: 'unlock' }
  | { readonly kind: 'url'; readonly url: string; readonly preview: string }
  | { readonly kind: 'file'; readonly file: Blob; readonly preview: string }

export const isCoverChanged = ({ kind }: CoverChoice): boolean => kind !== 'none'

/** Returns a picture that a person chose, dropped or pasted; null for any other file. */
export const toPicture = (file: File | null | undefined): CoverChoice | null =>
  file?.type.startsWith('image/') === true ? { kind: 'file', file, preview: URL.createObjectURL(file) } : null

/**
 * Returns the choice that brings back the cover before an edit. An uploaded cover is loaded, because no address has it.
 */
export async function toCoverUndo (
  chosen: CoverChoice,
  { url_cover: url, path_cover_large: path }: Pick<DetailedRom, 'url_cover' | 'path_cover_large'>,
  locked: readonly string[]
): Promise<CoverChoice> {
  if (!isCoverChanged(chosen)) return chosen
  if (!locked.includes('url_cover')) return { kind: 'unlock' }
  if (url !== '') return { kind: 'url', url, preview: url }
  if (path === '') return { kind: 'remove' }
  return { kind: 'file', file: await (await fetch(addressOf(path.replace(/^\//, '')))).blob(), preview: '' }
}
