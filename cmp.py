import subprocess,json,statistics,sys
R='/work/main';P=R+'/bench/peers/java/target'
def run(java,first,contest):
    cp=f"{first}{P}/classes:{R}/java/target/classes:{P}/lib/*"
    a=[java,"-Didgen.library="+R+"/build/lib/libidgen.so"]
    if '25' in java: a.insert(1,"--enable-native-access=ALL-UNNAMED")
    out=subprocess.run([*a,"-cp",cp,"dev.idgen.peers.Peers",contest,"7"],capture_output=True,text=True)
    return json.loads(out.stdout)["ns"]
for java in ("java","/usr/lib/jvm/temurin-25-jdk-amd64/bin/java"):
  for contest in ("snowflake","burst"):
    res={}
    for i in range(int(sys.argv[1])):
        for name,first in (("old",""),("new","/tmp/jw/cls:")):
            for k,v in run(java,first,contest).items():
                if "idgen" in k or "Agrona" in k or 'clock' in k: res.setdefault((k,name),[]).extend(v)
    for k,v in sorted(res.items()): print(java[-25:],k,"min %.2f med %.2f"%(min(v),statistics.median(v)))
