import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { Failure } from '../../api/failure.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../button.tsx'
import { useForm } from '../form.ts'
import { Notice } from '../state.tsx'
import { FormFields } from './fields.tsx'
import { readNode } from './node.ts'
import { createValue, findProblems, isWithin, membersOf, toPayload } from './values.ts'

interface SchemaFormProps {
  /** The JSON schema of an object. */
  schema: unknown
  /** The stored values; without one, the defaults of the schema. */
  values?: Readonly<Record<string, unknown>>
  /** Names of values that the server has and does not tell, such as secrets; left empty, they stay. */
  stored?: readonly string[]
  /** True to send changed values only, because the server has others that it does not tell. */
  isUpdate?: boolean
  submit: string
  /** Sends the values; a `Failure` shows at its fields. */
  onSubmit: (values: Readonly<Record<string, unknown>>) => Promise<void>
  /** Further buttons, such as a test. */
  children?: ComponentChildren
}

/** Returns the members that differ from those of another value. */
function pickChanges (value: unknown, former: unknown): Readonly<Record<string, unknown>> {
  const before = membersOf(former)
  const isChanged = ([name, one]: [string, unknown]) => JSON.stringify(one) !== JSON.stringify(before[name])
  return Object.fromEntries(Object.entries(membersOf(value)).filter(isChanged))
}

/** A form for any schema of a plugin or channel. */
export function SchemaForm (props: SchemaFormProps) {
  const { schema, values: current = {}, stored = [], isUpdate = false, submit, onSubmit, children } = props
  const { common } = texts()
  const node = useMemo(() => readNode(schema), [schema])
  const initial: unknown = { ...membersOf(createValue(node)), ...current }
  const { values, set, isBusy, failure, onSubmit: handleSubmit } = useForm({ all: initial }, async ({ all }) => {
    const problems = findProblems(node, all, common, stored)
    if (problems.length > 0) throw new Failure(0, '', problems)
    await onSubmit(pickChanges(toPayload(node, all), isUpdate ? toPayload(node, initial) : {}))
  })
  const problems = failure?.fields ?? []
  const above = failure !== null && problems.length === 0 ? failure.message : problems.filter((problem) => !isWithin(node, problem)).map(({ message }) => message).join(' ')
  return (
    <form class='form' onSubmit={handleSubmit} noValidate>
      {above !== '' && <Notice kind='failure'>{above}</Notice>}
      <FormFields node={node} value={values.all} onChange={(all) => { set('all', all) }} problems={problems} stored={stored} />
      <div class='cluster'>
        <Button type='submit' kind='primary' isBusy={isBusy}>{submit}</Button>
        {children}
      </div>
    </form>
  )
}
