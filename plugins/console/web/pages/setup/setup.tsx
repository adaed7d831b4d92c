import type { ComponentType } from 'preact'
import { isAdministrator } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import type { Messages } from '../../i18n/en.ts'
import { useTitle } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Forbidden, NotFound } from '../errors/errors.tsx'
import { LibraryStep } from './library-step.tsx'
import { ProvidersStep } from './providers-step.tsx'
import { ScanStep } from './scan-step.tsx'

interface Step { path: string, name: keyof Messages['setup']['steps'], content: ComponentType }

const STEPS: readonly Step[] = [
  { path: 'setup', name: 'library', content: LibraryStep },
  { path: 'setup/providers', name: 'providers', content: ProvidersStep },
  { path: 'setup/scan', name: 'scan', content: ScanStep }
]

/** The steps after the first start. Each can be skipped and opened again later. */
export default function Setup ({ step }: { step?: string }) {
  const { setup } = texts()
  const path = step === undefined ? 'setup' : `setup/${step}`
  const index = STEPS.findIndex((one) => one.path === path)
  const current = STEPS[index]
  useTitle(current === undefined ? undefined : setup.steps[current.name])
  if (current === undefined) return <NotFound />
  if (!isAdministrator()) return <Forbidden />
  const { content: Content } = current
  const next = STEPS[index + 1]
  return (
    <div class='setup'>
      <nav aria-label={setup.title}>
        <ol class='setup-steps'>
          {STEPS.map(({ path: href, name }, at) => (
            <li key={name} data-done={at < index ? '' : undefined}>
              <a href={href} aria-current={at === index ? 'step' : undefined}>
                <span class='setup-number'>{at + 1}</span><span class='setup-name'>{setup.steps[name]}</span>
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <Content />
      <div class='setup-foot'>
        <LinkButton kind='quiet' href='./'>{next === undefined ? setup.toHome : setup.skip}</LinkButton>
        {next !== undefined && <LinkButton kind='primary' href={next.path}>{setup.next(setup.steps[next.name])}</LinkButton>}
      </div>
    </div>
  )
}
