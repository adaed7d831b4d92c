import { normalizeProps, useMachine } from '@zag-js/preact'
import * as machine from '@zag-js/tags-input'
import x from 'lucide/dist/esm/icons/x.mjs'
import { useId } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { readDirection } from './direction.ts'
import { Icon } from './icon.tsx'

interface TagsProps {
  label: string
  hint?: string
  error?: string | null
  placeholder?: string
  values: readonly string[]
  onChange: (values: string[]) => void
  max?: number
}

/** A list of short texts. Enter, a comma or leaving the field adds one; Backspace reaches the former ones. */
export function Tags ({ label, hint, error, placeholder, values, onChange, max }: TagsProps) {
  const service = useMachine(machine.machine, {
    id: useId(),
    dir: readDirection(),
    value: [...values],
    max,
    placeholder,
    invalid: error != null,
    blurBehavior: 'add',
    addOnPaste: true,
    sanitizeValue: (value) => value.trim(),
    validate: ({ inputValue }) => inputValue.trim() !== '',
    onValueChange: (details) => { onChange(details.value) }
  })
  const api = machine.connect(service, normalizeProps)
  const note = error ?? hint
  const noteId = `${service.prop('id')}-note`
  return (
    <div {...api.getRootProps()} class='field'>
      <label {...api.getLabelProps()} class='field-label'>{label}</label>
      <div {...api.getControlProps()} class='tags'>
        {api.value.map((value, index) => (
          <span key={`${value} ${index}`} {...api.getItemProps({ index, value })}>
            <span {...api.getItemPreviewProps({ index, value })} class='tags-item'>
              <span {...api.getItemTextProps({ index, value })}>{value}</span>
              <button {...api.getItemDeleteTriggerProps({ index, value })} aria-label={`${texts().common.remove}: ${value}`}><Icon node={x} /></button>
            </span>
            <input {...api.getItemInputProps({ index, value })} type='text' role={undefined} class='tags-input' aria-label={label} />
          </span>
        ))}
        <input {...api.getInputProps()} type='text' role={undefined} class='tags-input' aria-describedby={note === undefined ? undefined : noteId} />
      </div>
      {note !== undefined && <p id={noteId} class={error == null ? 'field-hint' : 'field-error'}>{note}</p>}
    </div>
  )
}
