import { useState } from 'preact/hooks'
import external from 'lucide/dist/esm/icons/external-link.mjs'
import { api, call } from '../../api/client.ts'
import { toFailure } from '../../api/failure.ts'
import { useResource } from '../../api/resource.ts'
import { texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Badge, Loaded, Skeleton } from '../../ui/state.tsx'
import { usePluginSchemas } from '../account/plugin-schemas.ts'
import { ACCOUNT_PAGES, type Group, type Plugin, groupOf, listNeeded, writeLines } from './provider-list.ts'

type Schemas = Readonly<Record<string, unknown>>
const BADGES = { ready: 'success', account: 'warning', off: undefined, failed: 'danger' } as const

/** Asks the server if the provider answers. */
function TestButton ({ plugin: { key, name } }: { plugin: Plugin }) {
  const { setup: { providers } } = texts()
  const [isBusy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<{ isFine: boolean, text: string } | null>(null)
  async function test (): Promise<void> {
    setBusy(true)
    try {
      const isFine = await call(api.GET('/api/heartbeat/metadata/{source}', { params: { path: { source: key } } }))
      setOutcome({ isFine, text: isFine ? providers.answers : providers.silent })
    } catch (err) {
      setOutcome({ isFine: false, text: toFailure(err).message })
    }
    setBusy(false)
  }
  return (
    <div class='cluster'>
      <Button isSmall isBusy={isBusy} aria-label={providers.testNamed(name)} onClick={() => { void test() }}>
        {providers.test}
      </Button>
      <span role='status' class={outcome === null || outcome.isFine ? 'faint' : 'row-problem'}>{outcome?.text}</span>
    </div>
  )
}

/** The settings that a provider still needs, and where to get them. */
function Needs ({ plugin, schemas }: { plugin: Plugin, schemas: Schemas }) {
  const { setup: { providers } } = texts()
  const needed = listNeeded(plugin, schemas)
  const page = ACCOUNT_PAGES[plugin.key]
  if (needed.length === 0) return <p class='row-problem'>{plugin.reason}</p>
  return (
    <details>
      <summary>{providers.how}</summary>
      <div class='stack provider-how'>
        <ul class='provider-needs'>
          {needed.map(({ variable, description }) => <li key={variable}><code>{variable}</code> <span class='soft'>{description}</span></li>)}
        </ul>
        {page !== undefined && (
          <div><LinkButton isSmall icon={external} href={page} target='_blank' rel='noreferrer'>{providers.getAccount(plugin.name)}</LinkButton></div>
        )}
        <p class='field-hint'>{providers.where}</p>
        <pre class='snippet'>{writeLines(needed)}</pre>
      </div>
    </details>
  )
}

function ProviderCard ({ plugin, group, schemas }: { plugin: Plugin, group: Group, schemas: Schemas }) {
  const { setup: { providers } } = texts()
  const does = Object.hasOwn(providers.does, plugin.key) ? providers.does[plugin.key] : plugin.attribution
  return (
    <li class='provider'>
      <div class='row-title'>{plugin.name}<Badge kind={BADGES[group]}>{providers.states[group]}</Badge></div>
      {does != null && <p class='soft'>{does}</p>}
      {group === 'ready' && <TestButton plugin={plugin} />}
      {group === 'failed' && <p class='row-problem'>{plugin.reason}</p>}
      {(group === 'account' || group === 'off') && <Needs plugin={plugin} schemas={schemas} />}
    </li>
  )
}

const GROUPS: readonly Group[] = ['failed', 'ready', 'account', 'off']

/** The metadata providers: those that work, and for each other what it needs. */
export function ProvidersStep () {
  const { setup: { providers } } = texts()
  const plugins = useResource('plugins', (signal) => call(api.GET('/api/plugins', { signal })))
  const { data: { value: schemas = {} } } = usePluginSchemas()
  return (
    <>
      <div>
        <h1>{providers.title}</h1>
        <p class='soft setup-lead'>{providers.text}</p>
      </div>
      <Loaded resource={plugins} skeleton={<Skeleton height='30rem' />}>
        {(all) => {
          const shown = all.filter(({ kind }) => kind === 'provider').map((plugin) => ({ plugin, group: groupOf(plugin, schemas) }))
          return (
            <>
              {GROUPS.filter((group) => shown.some((one) => one.group === group)).map((group) => (
                <section key={group} class='stack'>
                  <h2>{providers.groups[group]}</h2>
                  <ul class='providers'>
                    {shown.filter((one) => one.group === group).map(({ plugin }) => (
                      <ProviderCard key={plugin.key} plugin={plugin} group={group} schemas={schemas} />
                    ))}
                  </ul>
                </section>
              ))}
            </>
          )
        }}
      </Loaded>
    </>
  )
}
