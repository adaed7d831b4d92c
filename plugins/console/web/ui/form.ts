import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, toFailure } from '../api/failure.ts'

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

/** Keeps the values of a form and sends them; a refusal shows at its fields, or above them by `failure`. */
export function useForm<Values extends object> (
  initial: Values, send: (values: Values) => Promise<void>
): FormState<Values> {
  const [values, setValues] = useState(initial)
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
