import type { ProviderId } from '@svc/plugin-sdk'
import type { ApiError, ErrorKind } from '../../core/errors.ts'
import type { ManualMetadata } from '../roms/entities.ts'

/** The texts of a form that are stored unchanged. */
export const TEXTS = ['name', 'name_sort_key', 'summary', 'url_cover', 'url_manual'] as const

/** An edit of a ROM by a person. Absent fields stay unchanged. */
export interface EditCall {
  kind: 'edit'
  rom_id: number
  /** New ids by provider; null for none. */
  ids: Readonly<Record<string, ProviderId | null>>
  texts: Readonly<Partial<Record<typeof TEXTS[number], string>>>
  /** Null clears the manual metadata. */
  manual_metadata?: ManualMetadata | null
  /** Records written by a person, by the key of their provider. */
  records: Readonly<Record<string, Record<string, unknown>>>
  /** The path of an uploaded picture; null to remove the cover. */
  cover?: string | null
  fs_name: string
  /** True if the manual is downloaded again although its address is unchanged. */
  refetches_manual?: boolean
  /** Field locks to remove, so that scans may change the fields again. */
  unlock: readonly string[]
}

/** A request to remove all matches. */
export interface UnmatchCall { kind: 'unmatch', rom_id: number }

/** The answer of the scan worker; the refusal is null after success. */
export interface EditResult { refusal: ErrorKind & Pick<ApiError, 'violations'> | null }
