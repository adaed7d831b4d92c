import plus from 'lucide/dist/esm/icons/plus.mjs'
import trash from 'lucide/dist/esm/icons/trash.mjs'
import { useState } from 'preact/hooks'
import type { FieldProblem } from '../../api/failure.ts'
import { texts } from '../../i18n/language.ts'
import { Button, IconButton } from '../button.tsx'
import { Check, PasswordField, Select, TextArea, TextField } from '../field.tsx'
import { Tags } from '../tags.tsx'
import { type FormNode, labelOf } from './node.ts'
import { type FieldPath, createValue, itemsOf, membersOf, problemAt } from './values.ts'

interface FieldProps<Node = FormNode> {
  node: Node
  /** The label of the field. */
  label: string
  path: FieldPath
  isRequired?: boolean
  value: unknown
  onChange: (value: unknown) => void
  problems: readonly FieldProblem[]
  /** Names of values that the server has and does not tell, such as secrets. */
  stored: readonly string[]
}
type Of<Kind extends FormNode['kind']> = FieldProps<Extract<FormNode, { kind: Kind }>>

const textOf = (value: unknown): string => typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value)

function TextNode ({ node, label, path, isRequired, value, onChange, problems, stored }: Of<'text'>) {
  const { common } = texts()
  const isStored = stored.includes(String(path.at(-1)))
  const isRemoved = value === null
  const shared = {
    label,
    hint: node.description,
    error: problemAt(problems, path),
    value: textOf(value),
    maxLength: node.maxLength,
    onInput: onChange,
    required: isRequired && !isStored,
    placeholder: isStored && !isRemoved ? common.secretStored : undefined
  }
  if (node.isSecret) {
    return (
      <>
        <PasswordField {...shared} autocomplete='off' disabled={isRemoved} />
        {isStored && isRequired !== true && (
          <Check
            label={`${common.removeStored}: ${label}`} isChecked={isRemoved}
            onChange={(isChecked) => { onChange(isChecked ? null : '') }}
          />
        )}
      </>
    )
  }
  if (node.isLong) return <TextArea {...shared} />
  return <TextField {...shared} type={node.format === 'uri' ? 'url' : node.format ?? 'text'} />
}

const NumberNode = ({ node, label, path, isRequired, value, onChange, problems }: Of<'number'>) => (
  <TextField
    label={label} hint={node.description} error={problemAt(problems, path)} type='number'
    step={node.isInteger ? 1 : 'any'} min={node.minimum} max={node.maximum} required={isRequired} value={textOf(value)} onInput={onChange}
  />
)

/** A choice of one; the first option of an optional one is none. */
function ChoiceNode ({ node: { options, description }, label, path, isRequired = false, value, onChange, problems }: Of<'choice'>) {
  const names = Object.fromEntries(options.map((option, index) => [String(index), String(option)]))
  const chosen = options.findIndex((option) => option === value)
  const isOpen = !isRequired || chosen === -1
  return (
    <Select
      label={label} hint={description} error={problemAt(problems, path)} value={String(chosen)}
      options={isOpen ? { '-1': texts().common.none, ...names } : names}
      onChange={(index) => { onChange(options[Number(index)] ?? '') }}
    />
  )
}

function ChoicesNode ({ node: { options, description }, label, value, onChange }: Of<'choices'>) {
  const chosen = itemsOf(value)
  return (
    <fieldset class='form-group'>
      <legend>{label}</legend>
      {description !== undefined && <p class='field-hint'>{description}</p>}
      {options.map((option) => (
        <Check
          key={String(option)} label={String(option)} isChecked={chosen.includes(option)}
          onChange={(isChecked) => {
            onChange(options.filter((one) => one === option ? isChecked : chosen.includes(one)))
          }}
        />
      ))}
    </fieldset>
  )
}

function ListNode ({ node: { item, max, description }, label, path, value, onChange, problems }: Of<'list'>) {
  const { common } = texts()
  const items = itemsOf(value)
  function replace (index: number, next: readonly unknown[]): void {
    onChange([...items.slice(0, index), ...next, ...items.slice(index + 1)])
  }
  return (
    <fieldset class='form-group'>
      <legend>{label}</legend>
      {description !== undefined && <p class='field-hint'>{description}</p>}
      {items.map((one, index) => (
        <div class='form-item' key={index}>
          <FormField
            node={item} label={`${label} ${index + 1}`} path={[...path, index]} value={one} problems={problems} stored={[]}
            onChange={(next) => { replace(index, [next]) }}
          />
          <IconButton icon={trash} label={`${common.remove}: ${label} ${index + 1}`} onClick={() => { replace(index, []) }} />
        </div>
      ))}
      <Button
        isSmall icon={plus} disabled={max !== undefined && items.length >= max}
        onClick={() => { onChange([...items, createValue(item)]) }}
      >
        {common.add}
      </Button>
    </fieldset>
  )
}

/** Values by names. A new name is typed first, because two rows of one name would lose one. */
function MapNode ({ node: { item, description }, label, path, value, onChange, problems }: Of<'map'>) {
  const { common } = texts()
  const members = membersOf(value)
  const [name, setName] = useState('')
  function add (): void {
    onChange({ ...members, [name.trim()]: createValue(item) })
    setName('')
  }
  return (
    <fieldset class='form-group'>
      <legend>{label}</legend>
      {description !== undefined && <p class='field-hint'>{description}</p>}
      {Object.entries(members).map(([key, one]) => (
        <div class='form-item' key={key}>
          <FormField
            node={item} label={key} path={[...path, key]} value={one} problems={problems} stored={[]}
            onChange={(next) => { onChange({ ...members, [key]: next }) }}
          />
          <IconButton
            icon={trash} label={`${common.remove}: ${key}`}
            onClick={() => { onChange(Object.fromEntries(Object.entries(members).filter(([other]) => other !== key))) }}
          />
        </div>
      ))}
      <div class='form-item'>
        <TextField label={common.newName} value={name} onInput={setName} />
        <Button icon={plus} disabled={name.trim() === '' || Object.hasOwn(members, name.trim())} onClick={add}>{common.add}</Button>
      </div>
    </fieldset>
  )
}

function ObjectNode ({ node: { fields, description }, label, path, value, onChange, problems, stored }: Of<'object'>) {
  return (
    <fieldset class='form-group'>
      <legend>{label}</legend>
      {description !== undefined && <p class='field-hint'>{description}</p>}
      <Members fields={fields} path={path} value={value} onChange={onChange} problems={problems} stored={stored} />
    </fieldset>
  )
}

type MembersProps = Omit<FieldProps, 'node' | 'label' | 'isRequired'> & Pick<Extract<FormNode, { kind: 'object' }>, 'fields'>

function Members ({ fields, path, value, onChange, problems, stored }: MembersProps) {
  const members = membersOf(value)
  return (
    <>
      {fields.map(({ name, isRequired, node }) => (
        <FormField
          key={name} node={node} label={labelOf(name, node)} path={[...path, name]} isRequired={isRequired}
          value={members[name]} problems={problems} stored={stored}
          onChange={(next) => { onChange({ ...members, [name]: next }) }}
        />
      ))}
    </>
  )
}

/** The field of one node. */
export function FormField (props: FieldProps) {
  const { node, label, path, value, onChange, problems } = props
  switch (node.kind) {
    case 'text': return <TextNode {...props} node={node} />
    case 'number': return <NumberNode {...props} node={node} />
    case 'switch': return <Check label={label} hint={node.description} isChecked={value === true} onChange={onChange} />
    case 'choice': return <ChoiceNode {...props} node={node} />
    case 'choices': return <ChoicesNode {...props} node={node} />
    case 'texts': {
      return (
        <Tags
          label={label} hint={node.description} error={problemAt(problems, path)} max={node.max}
          values={itemsOf(value).map(String)} onChange={onChange}
        />
      )
    }
    case 'list': return <ListNode {...props} node={node} />
    case 'map': return <MapNode {...props} node={node} />
    case 'object': return <ObjectNode {...props} node={node} />
    case 'json': return <TextArea label={label} hint={node.description} error={problemAt(problems, path)} value={textOf(value)} onInput={onChange} />
  }
}

interface FormFieldsProps {
  node: FormNode
  value: unknown
  onChange: (value: unknown) => void
  problems?: readonly FieldProblem[]
  stored?: readonly string[]
}

/** The fields of a whole schema, for a form with further fields of its own. */
export const FormFields = ({ node, value, onChange, problems = [], stored = [] }: FormFieldsProps) => node.kind === 'object'
  ? <Members fields={node.fields} path={[]} value={value} onChange={onChange} problems={problems} stored={stored} />
  : <FormField node={node} label={node.title ?? ''} path={[]} value={value} onChange={onChange} problems={problems} stored={stored} />
