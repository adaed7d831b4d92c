import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { toFailure } from '../../api/failure.ts'
import { useResource } from '../../api/resource.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Loaded, Skeleton } from '../../ui/state.tsx'
import { usePluginSchemas } from '../account/plugin-schemas.ts'
import { type Group, type Plugin, groupOf, hasSettings, switchOf } from './provider-list.ts'
import { PluginDialog, changeSetting, testProvider } from './provider-settings.tsx'

type Schemas = Readonly<Record<string, unknown>>
const BADGES = { ready: 'success', account: 'warning', off: undefined, failed: 'danger' } as const

interface ActionsProps { plugin: Plugin, group: Group, schemas: Schemas }

/** The buttons of a plugin: test a provider, switch it on, or change its settings. */
function Actions ({ plugin, group, schemas }: ActionsProps) {
  const { setup: { providers } } = texts()
  const [isBusy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<{ isFine: boolean, text: string } | null>(null)
  const [isOpen, setOpen] = useState(false)
  const toggle = group === 'off' ? switchOf(plugin, schemas) : undefined

  async function run (work: () => Promise<{ isFine: boolean, text: string } | null>): Promise<void> {
    setBusy(true)
    setOutcome(await work().catch((err: unknown) => ({ isFine: false, text: toFailure(err).message })))
    setBusy(false)
  }
  async function test () {
    const problem = await testProvider(plugin)
    return { isFine: problem === null, text: problem === null ? providers.answers : problem || providers.silent }
  }
  async function switchOn () {
    if (toggle !== undefined) await changeSetting(plugin, toggle, true)
    return null
  }
  return (
    <div class='cluster provider-actions'>
      {group === 'ready' && plugin.kind === 'provider' && (
        <Button
          isSmall isBusy={isBusy} aria-label={providers.testNamed(plugin.name)} onClick={() => { void run(test) }}
        >{providers.test}
        </Button>
      )}
      {toggle !== undefined && (
        <Button
          isSmall isBusy={isBusy} aria-label={providers.switchOnNamed(plugin.name)}
          onClick={() => { void run(switchOn) }}
        >{providers.switchOn}
        </Button>
      )}
      {hasSettings(plugin, schemas) && (
        <Button
          isSmall kind={group === 'account' ? undefined : 'quiet'} aria-label={providers.settingsOf(plugin.name)}
          onClick={() => { setOpen(true) }}
        >{group === 'account' ? providers.enterKey : providers.settings}
        </Button>
      )}
      <span role='status' class={outcome === null || outcome.isFine ? 'faint' : 'row-problem'}>{outcome?.text}</span>
      {isOpen && <PluginDialog plugin={plugin} schemas={schemas} onClose={() => { setOpen(false) }} />}
    </div>
  )
}

function PluginCard ({ plugin, group, schemas }: ActionsProps) {
  const { setup: { providers } } = texts()
  const [known, name] = plugin.kind === 'provider' ? [providers.does, plugin.key] : [providers.othersDo, `${plugin.kind ?? ''} ${plugin.key}`]
  const does = Object.hasOwn(known, name) ? known[name] : plugin.attribution
  return (
    <li class='provider'>
      <div class='row-title'>{plugin.name}<Badge kind={BADGES[group]}>{providers.states[group]}</Badge></div>
      {does != null && <p class='soft'>{does}</p>}
      {group === 'failed' && <p class='row-problem'>{plugin.reason}</p>}
      <Actions plugin={plugin} group={group} schemas={schemas} />
    </li>
  )
}

const GROUPS: readonly Group[] = ['failed', 'ready', 'account', 'off']

/** The channels and exporters that have settings of the whole server. */
function Others ({ plugins, schemas }: { plugins: readonly Plugin[], schemas: Schemas }) {
  if (plugins.length === 0) return null
  return (
    <section class='stack'>
      <h2>{texts().setup.providers.others}</h2>
      <ul class='providers'>
        {plugins.map((plugin) => (
          <PluginCard
            key={`${plugin.kind} ${plugin.key}`} plugin={plugin} schemas={schemas}
            group={plugin.status === 'active' ? 'ready' : plugin.status === 'disabled' ? 'off' : 'failed'}
          />
        ))}
      </ul>
    </section>
  )
}

/** The metadata providers: those that work, and for each other what it needs. Other plugins with settings follow. */
export function ProvidersStep () {
  const { setup: { providers } } = texts()
  const plugins = useResource('plugins', (signal) => call(api.GET('/api/plugins', { signal })))
  const { data: { value: known }, failure: { value: failure } } = usePluginSchemas()
  const schemas = known ?? {}
  // As high as a screen, because the buttons below it would move otherwise.
  const waiting = <Skeleton height='100vh' />
  return (
    <>
      <div>
        <h1>{providers.title}</h1>
        <p class='soft setup-lead'>{providers.text}</p>
      </div>
      <Loaded resource={plugins} skeleton={waiting}>
        {(all) => {
          // The schemas decide what a provider needs.
          if (known === undefined && failure === null) return waiting
          const shown = all.filter(({ kind }) => kind === 'provider').map((plugin) => ({ plugin, group: groupOf(plugin, schemas) }))
          return (
            <>
              {GROUPS.filter((group) => shown.some((one) => one.group === group)).map((group) => (
                <section key={group} class='stack'>
                  <h2>{providers.groups[group]}</h2>
                  <ul class='providers'>
                    {shown.filter((one) => one.group === group).map(({ plugin }) => (
                      <PluginCard key={plugin.key} plugin={plugin} group={group} schemas={schemas} />
                    ))}
                  </ul>
                </section>
              ))}
              <Others plugins={all.filter((plugin) => plugin.kind !== 'provider' && hasSettings(plugin, schemas))} schemas={schemas} />
            </>
          )
        }}
      </Loaded>
    </>
  )
}
