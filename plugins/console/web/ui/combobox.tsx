import * as machine from '@zag-js/combobox'
import { normalizeProps, useMachine } from '@zag-js/preact'
import chevron from 'lucide/dist/esm/icons/chevron-down.mjs'
import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { readDirection } from './direction.ts'
import { Icon } from './icon.tsx'
import { Portal } from './portal.tsx'

/** A choice; the note stands behind its label. */
export interface ComboboxOption { value: string, label: string, note?: string }

interface ComboboxProps {
  label: string
  hint?: string
  error?: string | null
  placeholder?: string
  options: readonly ComboboxOption[]
  /** The chosen value; null if there is none. */
  value: string | null
  onChange: (value: string | null) => void
  /** Called with the typed text if the server searches; otherwise the options are filtered here. */
  onSearch?: (text: string) => void
}

const matches = ({ label, note = '' }: ComboboxOption, text: string): boolean =>
  `${label} ${note}`.toLowerCase().includes(text.trim().toLowerCase())

/** A choice of one among many, which people find by typing. */
export function Combobox ({ label, hint, error, placeholder, options, value, onChange, onSearch }: ComboboxProps) {
  const { common } = texts()
  const [text, setText] = useState('')
  const shown = useMemo(
    () => onSearch !== undefined || text === '' ? options : options.filter((option) => matches(option, text)), [options, text, onSearch === undefined]
  )
  const labelOf = (chosen: string | null) => options.find((option) => option.value === chosen)?.label ?? ''
  const [typed, setTyped] = useState(labelOf(value))
  // Options may arrive after the value whose label they hold.
  useEffect(() => { if (value !== null) setTyped(labelOf(value)) }, [value, options])
  const service = useMachine(machine.machine, {
    id: useId(),
    dir: readDirection(),
    collection: useMemo(() => machine.collection({ items: shown, itemToString: (option) => option.label }), [shown]),
    value: value === null ? [] : [value],
    inputValue: typed,
    placeholder,
    invalid: error != null,
    openOnClick: true,
    inputBehavior: 'autohighlight',
    positioning: { sameWidth: true, gutter: 4 },
    onValueChange: (details) => { onChange(details.value[0] ?? null) },
    onInputValueChange: ({ inputValue, reason }) => {
      setTyped(inputValue)
      if (reason !== 'input-change') return setText('')
      setText(inputValue)
      onSearch?.(inputValue)
    },
    onOpenChange: ({ open }) => { if (!open) setText('') }
  })
  const api = machine.connect(service, normalizeProps)
  const note = error ?? hint
  const noteId = `${service.prop('id')}-note`
  return (
    <div {...api.getRootProps()} class='field'>
      <label {...api.getLabelProps()} class='field-label'>{label}</label>
      <div {...api.getControlProps()} class='input-with'>
        <input {...api.getInputProps()} type='text' role='combobox' class='input' aria-describedby={note === undefined ? undefined : noteId} />
        <button {...api.getTriggerProps()} class='button button-quiet button-icon button-small' aria-label={common.showChoices}><Icon node={chevron} /></button>
      </div>
      {note !== undefined && <p id={noteId} class={error == null ? 'field-hint' : 'field-error'}>{note}</p>}
      {api.open && (
        <Portal>
          <div {...api.getPositionerProps()}>
            <ul {...api.getContentProps()} class='combobox-list'>
              {shown.map((option) => (
                <li key={option.value} {...api.getItemProps({ item: option })} class='combobox-item'>
                  {option.label}{option.note !== undefined && <span class='faint'>{option.note}</span>}
                </li>
              ))}
              {shown.length === 0 && <li class='combobox-none' role='presentation'>{common.noChoices}</li>}
            </ul>
          </div>
        </Portal>
      )}
    </div>
  )
}
