import UPlot from 'uplot'
import type { Week } from './play-weeks.ts'

const colorOf = (element: Element, name: string): string => {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Draws the play time of weeks as bars, as wide as its parent. @returns a function that removes the plot */
export function drawWeeks (
  parent: HTMLElement,
  weeks: readonly Week[],
  height: number,
  formatDate: (date: Date) => string
): () => void {
  const [text, line, accent] = ['--text-faint', '--line', '--accent'].map((name) => colorOf(parent, name))
  const axis: UPlot.Axis = { stroke: text, grid: { show: false }, ticks: { show: false }, font: '12px system-ui' }
  const bars = UPlot.paths.bars?.({ size: [0.7, 28], radius: 0.2 })
  const plot = new UPlot(
    {
      width: parent.clientWidth,
      height,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      // Bars begin at zero, because their lengths are compared.
      scales: {
        x: { time: false, range: [-0.6, weeks.length - 0.4] },
        y: { range: (_plot, _least, most) => [0, Math.max(most, 1) * 1.08] }
      },
      axes: [
        {
          ...axis,
          space: 90,
          incrs: [1, 2, 4, 8, 13, 26],
          values: (_plot, splits) =>
            splits.map((index) => {
              const week = weeks[index]
              return week === undefined ? '' : formatDate(week.start)
            })
        },
        {
          ...axis,
          grid: { stroke: line, width: 1 },
          size: 48,
          values: (_plot, splits) => splits.map((minutes) => `${minutes} min`)
        }
      ],
      series: [{}, { fill: accent, stroke: accent, width: 0, points: { show: false }, ...(bars && { paths: bars }) }]
    },
    [weeks.map((_week, index) => index), weeks.map(({ minutes }) => minutes)],
    parent
  )
  const observer = new ResizeObserver(() => {
    plot.setSize({ width: parent.clientWidth, height })
  })
  observer.observe(parent)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}
