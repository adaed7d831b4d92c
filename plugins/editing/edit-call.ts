import type { ProviderId } from '@svc/plugin-sdk'
import type { ErrorCode } from '../../core/errors.ts'
import type { ManualMetadata } from '../roms/entities.ts'

/** The texts of a form that are stored as they are. */
export const TEXTS = ['name', 'name_sort_key', 'summary', 'url_cover', 'url_manual'] as const

/** What a person changes of a ROM. What is not named stays. */
export interface EditCall {
  kind: 'edit'
  rom_id: number
  /** By provider; null for none. */
  ids: Readonly<Record<string, ProviderId | null>>
  texts: Readonly<Partial<Record<typeof TEXTS[number], string>>>
  /** Null to take it back. */
  manual_metadata?: ManualMetadata | null
  /** What providers are to have said, by their keys. */
  records: Readonly<Record<string, Record<string, unknown>>>
  /** The path of an uploaded picture; null to remove the cover. */
  cover?: string | null
  fs_name: string
  /** Whether the manual is fetched though its address is as it was. */
  refetches_manual?: boolean
  /** What is given back to scans. */
  unlock: readonly string[]
}

/** That all providers are wrong. */
export interface UnmatchCall { kind: 'unmatch', rom_id: number }

/** How the scan worker answers; null when it is done. */
export interface EditAnswer { refusal: { code: ErrorCode, message: string } | null }
