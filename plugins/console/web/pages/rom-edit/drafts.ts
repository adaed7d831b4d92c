import { accountOf } from '../../api/session.ts'
import type { CoverChoice } from './cover-choice.ts'
import type { EditValues, Field } from './edit-values.ts'

/** An edit that is not saved. */
export interface Draft {
  /** The values with which the edit began. */
  readonly base: EditValues
  readonly values: EditValues
  readonly unlocked: ReadonlySet<Field>
  readonly cover: CoverChoice
}

/** The drafts of this tab by account and ROM, so that they survive another page and the end of a session. */
const drafts = new Map<string, Draft>()
const keyOf = (romId: number) => `${accountOf()?.id} ${romId}`

export const readDraft = (romId: number): Draft | undefined => drafts.get(keyOf(romId))

export function storeDraft (romId: number, draft: Draft): void {
  drafts.set(keyOf(romId), draft)
}

export function dropDraft (romId: number): void {
  drafts.delete(keyOf(romId))
}
