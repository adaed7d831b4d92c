import { effect } from '@preact/signals'
import { accountOf, session } from '../api/session.ts'
import { type Fields, isFields, readFields } from '../read-fields.ts'

/** The place of the values of one form that the end of a session closed. Not for secrets, because a tab stores them. */
export interface FormDraft<Values> {
  take: () => Values | undefined
  /** Stores the values if the session ended. */
  store: (values: Values) => void
}

/** The drafts in this tab, which outlive the load of a page, because a sign-in by OpenID loads one. */
const KEY = 'svc.drafts'

interface Stored {
  /** The account whose drafts these are. */
  readonly account: number
  readonly drafts: Fields
}

function readStored (): Stored | null {
  try {
    const { account, drafts } = readFields(JSON.parse(sessionStorage.getItem(KEY) ?? 'null'))
    return typeof account === 'number' && isFields(drafts) ? { account, drafts } : null
  } catch {
    return null
  }
}

function writeStored (stored: Stored): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(stored))
  } catch {
    // Without storage, the values are lost with the form.
  }
}

const draftsOf = (account: number): Fields => {
  const stored = readStored()
  return stored?.account === account ? stored.drafts : {}
}

/** Deletes all drafts, because the person signs out, or another one signed in. */
export function deleteDrafts (): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Without storage, there are no drafts.
  }
}

effect(() => {
  const account = accountOf()
  if (account !== null && readStored()?.account !== account.id) deleteDrafts()
})

/** True if the session ended without a sign-out. */
const hasEnded = () => session.value.state === 'signed-out' && session.value.hasEnded

/**
 * Creates the drafts of a kind of form in this tab, by account. They survive the end of a session.
 *
 * @param kind distinguishes the kinds of forms
 */
export function createFormDrafts<Values> (kind: string) {
  /** @param form distinguishes the forms of that kind */
  return (form: string): FormDraft<Values> => {
    const account = accountOf()?.id
    const name = `${kind} ${form}`
    return {
      take () {
        if (account === undefined) return undefined
        const { [name]: draft, ...others } = draftsOf(account)
        if (draft === undefined) return undefined
        writeStored({ account, drafts: others })
        return draft as Values | undefined
      },
      store (values) {
        if (account === undefined || !hasEnded()) return
        writeStored({ account, drafts: { ...draftsOf(account), [name]: values } })
      }
    }
  }
}
