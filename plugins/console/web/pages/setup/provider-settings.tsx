import { useMemo, useState } from 'preact/hooks'
import external from 'lucide/dist/esm/icons/external-link.mjs'
import { api, call } from '../../api/client.ts'
import { cache, useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { texts } from '../../i18n/language.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SchemaForm } from '../../ui/form/schema-form.tsx'
import { Loaded, Notice, Skeleton } from '../../ui/state.tsx'
import { tellSuccess } from '../../ui/toast.tsx'
import { ACCOUNT_PAGES, type Plugin, editableSchema, hasFields } from './provider-list.ts'

type Settings = components['schemas']['PluginSettings']
type Schemas = Readonly<Record<string, unknown>>

type Named = Pick<Plugin, 'kind' | 'key'>
const pathOf = ({ kind, key }: Named) => ({ kind: kind ?? 'provider', key })
const keyOf = ({ kind, key }: Named) => `plugin settings ${kind ?? ''} ${key}`
const load = (plugin: Named, signal?: AbortSignal) =>
  call(api.GET('/api/plugins/{kind}/{key}/settings', { params: { path: pathOf(plugin) }, signal }))

/** Stores the settings of a plugin, which apply at once. */
async function store (plugin: Named, values: Schemas): Promise<void> {
  await call(api.PUT('/api/plugins/{kind}/{key}/settings', { params: { path: pathOf(plugin) }, body: values }))
  cache.invalidate(keyOf(plugin))
}

/** Asks the server to call a provider now. @returns the reason why it does not answer, or null */
export async function testProvider ({ key }: Pick<Plugin, 'key'>): Promise<string | null> {
  const { answers, problem } = await call(api.POST('/api/heartbeat/metadata/{source}', { params: { path: { source: key } } }))
  return answers ? null : problem ?? ''
}

/** Changes one setting of a provider and leaves the others. */
export async function changeSetting (plugin: Named, name: string, value: unknown): Promise<void> {
  const { values, fixed } = await load(plugin)
  const own = Object.entries(values).filter(([one]) => !Object.hasOwn(fixed, one))
  await store(plugin, { ...Object.fromEntries(own), [name]: value })
  cache.invalidate('plugins')
}

interface FormProps { plugin: Plugin, schemas: Schemas, settings: Settings, onClose: () => void }

/** The form of the settings that are not fixed by the operator. It tests a provider after each change. */
function SettingsForm ({ plugin, schemas, settings, onClose }: FormProps) {
  const { common, setup: { providers } } = texts()
  const isProvider = plugin.kind === 'provider'
  const [problem, setProblem] = useState<string | null>(null)
  const schema = useMemo(() => editableSchema(plugin, schemas, settings.fixed), [plugin, schemas, settings])
  const page = ACCOUNT_PAGES[plugin.key]
  async function submit (values: Schemas): Promise<void> {
    setProblem(null)
    await store(plugin, values)
    const found = isProvider ? await testProvider(plugin) : null
    setProblem(found)
    if (found !== null) return
    tellSuccess(isProvider ? providers.works(plugin.name) : providers.stored(plugin.name))
    onClose()
  }
  return (
    <div class='stack'>
      {page !== undefined && (
        <div><LinkButton isSmall icon={external} href={page} target='_blank' rel='noreferrer'>{providers.getAccount(plugin.name)}</LinkButton></div>
      )}
      {problem !== null && <Notice kind='failure'>{providers.silentBecause(problem)}</Notice>}
      {Object.keys(settings.fixed).length > 0 && (
        <div class='provider-fixed'>
          <p class='field-hint'>{providers.fixed}</p>
          <ul>{Object.entries(settings.fixed).map(([name, source]) => <li key={name}><code>{source}</code></li>)}</ul>
        </div>
      )}
      {hasFields(schema) && (
        <SchemaForm
          schema={schema} values={settings.values} stored={settings.stored_secrets} onSubmit={submit}
          submit={isProvider ? providers.saveAndTest : common.save}
        />
      )}
    </div>
  )
}

interface DialogProps { plugin: Plugin, schemas: Schemas, onClose: () => void }

/** Changes the settings of a plugin. */
export function PluginDialog ({ plugin, schemas, onClose }: DialogProps) {
  const { setup: { providers } } = texts()
  // The list is loaded again only now, because a card that moves to another group closes its dialog.
  function close (): void {
    cache.invalidate('plugins')
    onClose()
  }
  const settings = useResource(keyOf(plugin), (signal) => load(plugin, signal))
  return (
    <Dialog title={providers.settingsOf(plugin.name)} isOpen onClose={close}>
      <Loaded resource={settings} skeleton={<Skeleton height='14rem' />}>
        {(data) => <SettingsForm plugin={plugin} schemas={schemas} settings={data} onClose={close} />}
      </Loaded>
    </Dialog>
  )
}
