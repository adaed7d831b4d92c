import { accountOf } from '../api/session.ts'

/** The place of the values of one form that the end of a session closed. */
export interface FormDraft<Values> {
  take: () => Values | undefined
  /** Stores the values if the session ended. */
  store: (values: Values) => void
}

/** Creates the drafts of a kind of form in this tab, by account. They survive the end of a session. */
export function createFormDrafts<Values> () {
  const drafts = new Map<string, Values>()

  /** @param form distinguishes the forms of that kind */
  return (form: string): FormDraft<Values> => {
    const key = `${accountOf()?.id} ${form}`
    return {
      take () {
        const draft = drafts.get(key)
        drafts.delete(key)
        return draft
      },
      store (values) { if (accountOf() === null) drafts.set(key, values) }
    }
  }
}
