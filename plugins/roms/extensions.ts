import type { TProperties } from '@sinclair/typebox'
import type { RawBuilder } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { RomProviders } from './providers.ts'

type Details = Readonly<Record<string, unknown>>

/** Access to files that users store for ROMs, such as saves. The feature that owns these files implements it. */
export interface UserFiles {
  /** The schema fields that these files add to a ROM's details. */
  fields: TProperties
  /** The detail fields of a ROM without such files. */
  emptyDetails: Details
  select (context: Context<AnyCaller>, romId: number): Promise<Details>
  /** Returns the addresses of the picture of the caller's newest save of each ROM. Skips ROMs without one. */
  selectPictures (context: Context<AnyCaller>, romIds: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** The condition that a ROM `r` has such a file that the caller sees. */
  hasFilesCondition (caller: AnyCaller, kind: 'save' | 'state'): RawBuilder<boolean>
  /** A query for the ids of all ROMs that have such a file, which may return an id repeatedly. */
  selectIds (caller: AnyCaller, kind: 'save' | 'state'): RawBuilder<unknown>
}

/** The parts of a ROM that plugins and the features above this one add. */
export interface RomExtensions {
  providers: RomProviders
  userFiles: UserFiles
}
