"""The page's one small script: ask the tree about a row, and light up the path that the row takes."""

from __future__ import annotations

# Texts reach the document by textContent only, so names cannot become markup.
PAGE_SCRIPT = """
(function(){
var d=JSON.parse(document.getElementById('hornbeam-data').textContent),q=d.ask,box=document.getElementById('ask-fields');
if(!q||!box)return;
function el(n,t,c){var e=document.createElement(n);if(t!=null)e.textContent=t;if(c)e.className=c;return e}
var inputs=q.attributes.map(function(a){
 var l=el('label'),s=el('span',a.name),i;s.title=a.name;l.appendChild(s);
 if(a.labels){i=el('select');i.appendChild(new Option('(missing)',''));
  a.labels.forEach(function(x,k){i.appendChild(new Option(x,'v'+k))});i.value=a.value==null?'':'v'+a.value}
 else{i=el('input');i.type='number';i.step='any';i.value=a.value==null?'':a.value;i.placeholder='missing'}
 i.addEventListener('input',function(){show(true)});l.appendChild(i);box.appendChild(l);return i});
function branch(n){
 var a=q.attributes[n.a],v=inputs[n.a].value;
 if(v==='')return n.d;
 if(a.labels){var c=n.m[v.slice(1)];return c===undefined?n.d:c}
 var x=Number(v);return isNaN(x)?n.d:(x<=n.t?0:1)}
function show(lit){
 var i=0,path=[0],n=q.nodes[0],out=document.getElementById('ask-answer'),list=el('ol');
 while(n.c){var k=branch(n),j=n.c+k,li=el('li',n.q+' \\u2192 ');li.appendChild(el('b',q.nodes[j].b));list.appendChild(li);i=j;path.push(i);n=q.nodes[i]}
 out.textContent='';out.appendChild(el('b',n.p));out.appendChild(el('span',n.w,'hint'));out.appendChild(list);
 if(lit)document.querySelectorAll('[data-node]').forEach(function(e){e.classList.toggle('on',path.indexOf(+e.getAttribute('data-node'))>=0)})}
show();document.getElementById('ask').hidden=false;
})();
"""
