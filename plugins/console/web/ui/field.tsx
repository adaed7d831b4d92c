import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import eye from 'lucide/dist/esm/icons/eye.mjs'
import eyeOff from 'lucide/dist/esm/icons/eye-off.mjs'
import { texts } from '../i18n/language.ts'
import { IconButton } from './button.tsx'

interface Frame { label: string, hint?: string, error?: string | null }

/** The attributes that connect a control with its label, hint and error. */
interface Control { id: string, 'aria-invalid': boolean, 'aria-describedby': string | undefined }

interface FrameProps extends Frame { children: (control: Control) => ComponentChildren }

/** A control with its label above, and its hint or error below. */
export function Field ({ label, hint, error, children }: FrameProps) {
  const id = useId()
  const note = error ?? hint
  return (
    <div class='field'>
      <label class='field-label' for={id}>{label}</label>
      {children({ id, 'aria-invalid': error != null, 'aria-describedby': note === undefined ? undefined : `${id}-note` })}
      {note !== undefined && <p id={`${id}-note`} class={error == null ? 'field-hint' : 'field-error'}>{note}</p>}
    </div>
  )
}

interface Text extends Frame {
  name?: string
  value: string
  onInput: (value: string) => void
  required?: boolean
  disabled?: boolean
  autofocus?: boolean
  placeholder?: string
  minLength?: number
  maxLength?: number
  autocomplete?: AutoFill
}

interface TextFieldProps extends Text {
  type?: 'date' | 'email' | 'number' | 'search' | 'text' | 'url'
  autocapitalize?: 'none'
  min?: number
  max?: number
  step?: number | 'any'
}

/** A line of text. */
export const TextField = ({ label, hint, error, onInput, type = 'text', ...rest }: TextFieldProps) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => (
      <input
        {...rest} {...control} type={type as 'text'} class='input' onInput={({ currentTarget }) => { onInput(currentTarget.value) }}
      />
    )}
  </Field>
)

/** A password, which people can look at. */
export function PasswordField ({ label, hint, error, onInput, ...rest }: Text) {
  const [isShown, setShown] = useState(false)
  const { common } = texts()
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div class='input-with'>
          <input
            {...rest} {...control} class='input' type={(isShown ? 'text' : 'password') as 'text'}
            onInput={({ currentTarget }) => { onInput(currentTarget.value) }}
          />
          <IconButton
            isSmall icon={isShown ? eyeOff : eye} label={isShown ? common.hidePassword : common.showPassword}
            onClick={() => { setShown(!isShown) }}
          />
        </div>
      )}
    </Field>
  )
}

/** Several lines of text. */
export const TextArea = ({ label, hint, error, onInput, ...rest }: Text & { rows?: number }) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => <textarea {...rest} {...control} class='input' onInput={({ currentTarget }) => { onInput(currentTarget.value) }} />}
  </Field>
)

interface SelectProps<Value extends string> extends Frame {
  value: Value
  options: Readonly<Record<Value, string>>
  onChange: (value: Value) => void
}

/** A choice of one among few. */
export function Select<Value extends string> ({ label, hint, error, value, options, onChange }: SelectProps<Value>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select {...control} class='input' value={value} onChange={({ currentTarget }) => { onChange(currentTarget.value as Value) }}>
          {Object.entries<string>(options).map(([key, text]) => <option key={key} value={key}>{text}</option>)}
        </select>
      )}
    </Field>
  )
}

interface CheckProps { label: string, hint?: string, isChecked: boolean, onChange: (isChecked: boolean) => void }

/** A box to tick. */
export const Check = ({ label, hint, isChecked, onChange }: CheckProps) => (
  <label class='check'>
    <input type='checkbox' checked={isChecked} onChange={({ currentTarget }) => { onChange(currentTarget.checked) }} />
    <span>{label}{hint !== undefined && <span class='field-hint'><br />{hint}</span>}</span>
  </label>
)
