import type { EntityManager } from '@mikro-orm/postgresql'
import type { TProperties } from '@sinclair/typebox'
import type { RawBuilder } from 'kysely'
import type { AnyCaller } from '../platforms/visibility.ts'

type Details = Readonly<Record<string, unknown>>

/** Files that users keep of ROMs, such as saves: whoever has them tells of them. */
export interface UserFiles {
  /** What a ROM's details say of them. */
  fields: TProperties
  /** The same of a ROM that has none. */
  nothing: Details
  select (em: EntityManager, caller: AnyCaller, romId: number): Promise<Details>
  /** Addresses of the picture of the viewer's newest save of each of these ROMs; ROMs without one are left out. */
  selectPictures (em: EntityManager, caller: AnyCaller, romIds: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** The condition that there is one of a ROM `r` that the viewer sees. */
  has (caller: AnyCaller, kind: 'save' | 'state'): RawBuilder<boolean>
}
