"""The look of the page: one style sheet for screen, dark readers, phones and paper."""

from __future__ import annotations

from hornbeam.drawing import style_sheet

_PAGE = """
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--hb-ground);color:var(--hb-ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
main{max-width:1220px;margin:0 auto;padding:40px 28px 64px}
header .brand{display:flex;align-items:center;gap:9px;color:var(--hb-soft);font-size:14px;letter-spacing:.02em}
header .brand svg{display:block}
h1{font-size:clamp(26px,3.4vw,38px);line-height:1.18;margin:18px 0 8px;letter-spacing:-.015em;font-weight:680;overflow-wrap:anywhere}
h1 .whole{white-space:nowrap}h1 em{font-style:normal;color:var(--hb-accent)}
.lead{font-size:18px;color:var(--hb-soft);margin:0 0 26px;max-width:62em;overflow-wrap:anywhere}
h2{font-size:20px;margin:0 0 4px;font-weight:650;letter-spacing:-.005em}
.hint{color:var(--hb-soft);font-size:14px;margin:0 0 14px}
section{background:var(--hb-card);border:1px solid var(--hb-line);border-radius:14px;padding:22px 24px;margin:18px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(158px,1fr));gap:12px;margin:0 0 18px}
.card{background:var(--hb-card);border:1px solid var(--hb-line);border-radius:14px;padding:15px 18px}
.card b{display:block;font-size:28px;line-height:1.15;font-weight:680;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.card span{display:block;color:var(--hb-soft);font-size:13.5px;margin-top:3px}
.card .meter{height:6px;border-radius:3px;background:var(--hb-ground);margin-top:10px;position:relative;overflow:hidden}
.card .meter i{position:absolute;inset:0 auto 0 0;background:var(--hb-accent);border-radius:3px}
.card .meter u{position:absolute;top:0;bottom:0;width:2px;background:var(--hb-ink)}
.scroll{overflow-x:auto;-webkit-overflow-scrolling:touch;margin:0 -6px;padding:0 6px}
.scroll>svg{display:block;max-width:100%;height:auto;margin:0 auto}
.fit>svg{display:block;width:100%;height:auto}

.pair{display:grid;grid-template-columns:1fr 1fr;gap:18px;align-items:stretch}
.pair section{margin:0;min-width:0}
.bars{display:grid;grid-template-columns:fit-content(46%) 1fr auto;gap:7px 12px;align-items:center;font-size:14px}
.bars .n{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.bars .v{color:var(--hb-soft);font-variant-numeric:tabular-nums;text-align:right}
.bars .b{height:12px;border-radius:3px;background:var(--hb-c0);min-width:2px}
table{border-collapse:collapse;width:100%;font-size:14px}
th{font-weight:600;text-align:left;color:var(--hb-soft);font-size:13px}
th,td{padding:6px 12px 6px 0;border-bottom:1px solid var(--hb-line);vertical-align:top;overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}
td.r+td,th.r+th{padding-left:18px}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.matrix{width:auto}
.matrix td,.matrix th{border:0;padding:0;text-align:center}
.matrix td{position:relative;min-width:58px;height:40px;vertical-align:middle;font-variant-numeric:tabular-nums;border:2px solid var(--hb-card);border-radius:6px}
.matrix td i{position:absolute;inset:0;border-radius:4px}
.matrix td span{position:relative}
.matrix th{padding:4px 10px;max-width:150px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.matrix th.side{text-align:right;vertical-align:middle}
.depths{display:flex;flex-wrap:wrap;gap:6px;margin:0 0 12px;font-size:14px;align-items:center;color:var(--hb-soft)}
.depths label{border:1px solid var(--hb-line);border-radius:999px;padding:3px 13px;cursor:pointer;color:var(--hb-ink)}
.view{display:none}
input.pick{position:absolute;opacity:0;pointer-events:none}
pre{margin:0;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;overflow:auto;max-height:560px;tab-size:2}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}
.run{background:var(--hb-ground);border-radius:8px;padding:12px 14px;margin:0 0 14px;white-space:pre-wrap}
summary{cursor:pointer;font-weight:600;color:var(--hb-soft);font-size:14px;margin-bottom:8px}
.meta{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;font-size:14px;margin:0}
.meta dt{color:var(--hb-soft)}.meta dd{margin:0;overflow-wrap:anywhere}
.ask{display:grid;grid-template-columns:minmax(0,1.15fr) minmax(0,1fr);gap:26px}
.fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(132px,1fr));gap:10px 14px;align-content:start}
.fields label{font-size:13px;color:var(--hb-soft);display:block;min-width:0}
.fields label span{display:block;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.fields input,.fields select{width:100%;font:inherit;font-size:14px;color:var(--hb-ink);background:var(--hb-ground);border:1px solid var(--hb-line);border-radius:7px;padding:5px 8px;margin-top:2px}
.answer{background:var(--hb-ground);border-radius:10px;padding:16px 18px;min-height:120px}
.answer b{font-size:22px;display:block;line-height:1.25;overflow-wrap:anywhere}
.answer ol{margin:10px 0 0;padding-left:20px;font-size:14px;color:var(--hb-soft);overflow-wrap:anywhere}
.answer ol b{display:inline;font-size:14px;color:var(--hb-ink)}
footer{color:var(--hb-soft);font-size:13.5px;text-align:center;margin-top:30px}
a:focus-visible,input:focus-visible+label,.depths label:focus-within{outline:2px solid var(--hb-c0);outline-offset:2px}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media screen and (max-width:760px){main{padding:22px 14px 40px}section{padding:16px 15px;border-radius:12px}.pair,.ask{grid-template-columns:1fr}.lead{font-size:16px}.card{padding:12px 14px}.card b{font-size:23px}.cards{grid-template-columns:1fr 1fr}}
@media print{@page{margin:14mm}body{background:#fff;font-size:11pt}main{max-width:none;padding:0}h1{font-size:21pt;margin-top:8px}.lead{font-size:11pt;margin-bottom:12px}.cards{grid-template-columns:repeat(5,1fr);gap:8px}.card{padding:8px 11px}.card b{font-size:15pt}.card span{font-size:8.5pt}section{padding:12px 14px;margin:10px 0}section,.card{border-color:#bbb;break-inside:avoid}.pair{break-inside:avoid}
.depths,.ask-section,.no-print{display:none!important}.scroll{overflow:visible}.scroll>svg{min-width:0!important;height:auto;max-width:100%}
pre{max-height:none;overflow:visible;white-space:pre-wrap;font-size:8.5pt}.long{break-inside:auto}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""


def page_style() -> str:
    """Everything between the page's style tags."""
    return style_sheet(":root") + _PAGE.replace("\n", "")
