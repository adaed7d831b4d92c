import bug from 'lucide/dist/esm/icons/bug.mjs'
import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { Button } from './button.tsx'
import { Empty } from './state.tsx'

interface PageBoundaryProps {
  /** The view: another one clears the error. */
  view: string
  children: ComponentChildren
}

const describe = (caught: unknown): string =>
  caught instanceof Error ? caught.stack ?? caught.message : JSON.stringify(caught)

/** Shows an error page in place of a page that throws, so that the frame around it goes on. */
export function PageBoundary ({ view, children }: PageBoundaryProps) {
  const [caught, reset] = useErrorBoundary((err: unknown) => { reportError(err) }) as [unknown, () => void]
  useEffect(reset, [view])
  if (caught === undefined) return <>{children}</>
  const { crashed } = texts().errors
  return (
    <Empty isPage icon={bug} title={crashed.title} text={crashed.text}>
      <Button kind='primary' onClick={() => { location.reload() }}>{crashed.action}</Button>
      <details class='crash'><summary>{crashed.details}</summary><pre>{describe(caught)}</pre></details>
    </Empty>
  )
}
