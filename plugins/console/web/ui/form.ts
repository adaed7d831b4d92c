import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, toFailure } from '../api/failure.ts'
import type { FormDraft } from './form-drafts.ts'

/** The values of a form while people fill it, and its submission. */
export interface FormState<Values> {
  values: Values
  set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void
  isBusy: boolean
  failure: Failure | null
  /** Returns the server's error for a field; undefined if there is none. */
  errorOf: (name: keyof Values & string) => string | undefined
  onSubmit: (event: Event) => void
}

/** Returns the values of a form, which begins with its draft; they become the draft if the session ends. */
function useValues<Values extends object> (initial: Values, draft: FormDraft<Values> | undefined) {
  const [former] = useState(initial)
  const [slot] = useState(draft)
  const [values, setValues] = useState(() => slot?.take() ?? former)
  const latest = useRef(values)
  latest.current = values
  useEffect(() => () => { if (latest.current !== former) slot?.store(latest.current) }, [])
  return [values, setValues] as const
}

/**
 * Keeps the values of a form and sends them; a refusal shows at its fields, or above them by `failure`.
 *
 * @param draft keeps the values if the session ends meanwhile; not for forms with secrets
 */
export function useForm<Values extends object> (
  initial: Values, send: (values: Values) => Promise<void>, draft?: FormDraft<Values>
): FormState<Values> {
  const [values, setValues] = useValues(initial, draft)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const element = useRef<HTMLElement>(null)
  // After a refusal people go on at the first wrong field.
  useEffect(() => { if (failure !== null) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus() }, [failure])

  async function submit (): Promise<void> {
    setBusy(true)
    try {
      await send(values)
      setFailure(null)
    } catch (err) {
      setFailure(toFailure(err))
    }
    setBusy(false)
  }

  return {
    values,
    set: (name, value) => { setValues((former) => ({ ...former, [name]: value })) },
    isBusy,
    failure,
    errorOf: (name) => failure?.fields.find(({ path }) => path.at(-1) === name)?.message,
    onSubmit (event) {
      event.preventDefault()
      element.current = event.currentTarget instanceof HTMLElement ? event.currentTarget : null
      if (!isBusy) void submit()
    }
  }
}
